// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

func init() { caddy.RegisterModule(new(adminAPI)) }

// adminAPI is the operator's part of Caddy's admin endpoint. Whoever reaches
// that endpoint can load any configuration, so an action here is no new power;
// what would be one is to show what the deliveries hold, and nothing here does.
//
//	GET  /hookonce/deliveries               state, route, reason, q, all, limit, cursor
//	GET  /hookonce/deliveries/{id}
//	POST /hookonce/deliveries/{id}/{action} confirm, retry, release, drop, forget
//	GET  /hookonce/audit                    limit, delivery
//	GET  /hookonce/stats
type adminAPI struct{ logger *zap.Logger }

// CaddyModule returns the Caddy module information.
func (*adminAPI) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "admin.api.hookonce", New: func() caddy.Module { return new(adminAPI) }}
}

// Provision keeps the logger alone. The app is looked for at each request: this
// runs before any app exists, and an app without settings of its own is known
// only after the routes that use it.
func (a *adminAPI) Provision(ctx caddy.Context) error {
	a.logger = ctx.Logger(a)
	return nil
}

// Routes returns the routes below /hookonce/.
func (a *adminAPI) Routes() []caddy.AdminRoute {
	return []caddy.AdminRoute{
		{Pattern: "GET /hookonce/deliveries", Handler: a.serve((*adminCall).list)},
		{Pattern: "GET /hookonce/deliveries/{id}", Handler: a.serve((*adminCall).show)},
		{Pattern: "POST /hookonce/deliveries/{id}/{action}", Handler: a.serve((*adminCall).act)},
		{Pattern: "GET /hookonce/audit", Handler: a.serve((*adminCall).audit)},
		{Pattern: "GET /hookonce/stats", Handler: a.serve((*adminCall).stats)},
	}
}

// adminCall is one request of an operator, with the open node of the running
// configuration.
type adminCall struct {
	app    *App
	n      *node
	r      *http.Request
	now    time.Time
	logger *zap.Logger
}

// serve gives each request a lease of its own: the admin server of an old
// configuration may be asked after that configuration was cleaned up.
func (a *adminAPI) serve(f func(*adminCall) (any, error)) caddy.AdminHandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		app, err := runningApp()
		if err != nil {
			return err
		}
		l, err := app.acquire(r.Context())
		if err != nil {
			return apiError(err)
		}
		defer func() {
			if err := l.Release(); err != nil {
				a.logger.Error("closing the store failed", zap.Error(err))
			}
		}()
		out, err := f(&adminCall{app: app, n: l.Value(), r: r, now: time.Now(), logger: a.logger})
		if err != nil {
			return apiError(err)
		}
		return writeJSON(w, out)
	}
}

// runningApp returns the app of the running configuration.
func runningApp() (*App, error) {
	mod, err := caddy.ActiveContext().AppIfConfigured("hookonce")
	if err != nil {
		return nil, refusal(http.StatusServiceUnavailable,
			"the running configuration has no hookonce route, or is not up yet")
	}
	return mod.(*App), nil
}

// refusal is an answer with a sentence for the operator.
func refusal(status int, format string, args ...any) error {
	return caddy.APIError{HTTPStatus: status, Err: fmt.Errorf(format, args...)}
}

// apiError gives an error the status it deserves.
func apiError(err error) error {
	if api, ok := errors.AsType[caddy.APIError](err); ok {
		return api
	}
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, store.ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, delivery.ErrNoReason):
		status = http.StatusBadRequest
	case errors.Is(err, delivery.ErrImpossible), errors.Is(err, delivery.ErrNotYet):
		status = http.StatusConflict
	case errors.Is(err, store.ErrFull), errors.Is(err, store.ErrClosed), errors.Is(err, store.ErrLocked):
		status = http.StatusServiceUnavailable
	}
	return caddy.APIError{HTTPStatus: status, Err: err}
}

func writeJSON(w http.ResponseWriter, v any) error {
	text, err := safeJSON(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, err = w.Write(text)
	return err
}

// safeJSON writes every character that does not print as an escape. IDs are
// text of the sender, and JSON allows control and direction characters that
// would act on the terminal of whoever looks at the answer.
func safeJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	if !bytes.ContainsFunc(buf.Bytes(), hidden) {
		return buf.Bytes(), nil
	}
	out := make([]byte, 0, buf.Len()+64)
	for _, c := range buf.String() {
		switch {
		case !hidden(c):
			out = utf8.AppendRune(out, c)
		case c > 0xFFFF:
			hi, lo := utf16.EncodeRune(c)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, c)
		}
	}
	return out, nil
}

// hidden reports whether a character does something else than to show itself.
func hidden(c rune) bool { return !unicode.IsPrint(c) && c != '\n' }

// visible is text of others in a form that is safe in a line on a terminal.
func visible(s string) string {
	if !strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) || c == utf8.RuneError }) {
		return s
	}
	quoted := fmt.Sprintf("%q", s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// Interface guards.
var (
	_ caddy.Provisioner = (*adminAPI)(nil)
	_ caddy.AdminRouter = (*adminAPI)(nil)
)
