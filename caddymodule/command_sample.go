// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/hookonce/hookonce/caddymodule/verify"
)

// sample is a realistic event of a provider. In the body, {id} is the event's
// own ID, {n} a random 40-digit hex number, and {time}, {unix} and {ms} the time.
// Each body has {id} or {n} in it: no two events may have the same body.
type sample struct {
	body   string
	header map[string]string
	idForm string // of an ID in the body: %s takes 24 hex digits, %d a number of 18 digits
}

// sampleOf returns the sample of a provider.
func sampleOf(p *verify.Preset) sample {
	if s, ok := samples[p.Name]; ok {
		return s
	}
	return sample{body: `{"id":"{n}","type":"order.created","created_at":"{time}","data":{"order":1042,"total":"19.90","currency":"EUR"}}`}
}

// fill makes an event of the sample.
func (s sample) fill(id string, now time.Time, random io.Reader) (string, []byte, error) {
	var b [32]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", nil, fmt.Errorf("no random bytes: %w", err)
	}
	text := id
	switch {
	case id != "" || s.idForm == "":
	case strings.Contains(s.idForm, "%d"):
		id = fmt.Sprintf(s.idForm, 1e17+binary.BigEndian.Uint64(b[:])%9e17)
		text = id
	default:
		id = fmt.Sprintf(s.idForm, hex.EncodeToString(b[:12]))
		text = id
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return "", nil, err
	}
	body := strings.NewReplacer(
		"{id}", strings.Trim(string(quoted), `"`), "{n}", hex.EncodeToString(b[12:]),
		"{time}", now.UTC().Format("2006-01-02T15:04:05Z"),
		"{unix}", strconv.FormatInt(now.Unix(), 10), "{ms}", strconv.FormatInt(now.UnixMilli(), 10),
	).Replace(s.body)
	return id, []byte(body), nil
}

// push is what GitHub and its kin send for a push.
const push = `{"ref":"refs/heads/main","before":"0000000000000000000000000000000000000000","after":"{n}",` +
	`"repository":{"id":35129377,"name":"shop","full_name":"acme/shop","private":true},` +
	`"pusher":{"name":"ada","email":"ada@example.com"},"sender":{"login":"ada","id":6752317},` +
	`"commits":[{"id":"{n}","message":"Round prices half to even","timestamp":"{time}","author":{"name":"Ada"}}]}`

const bitbucketPush = `{"actor":{"display_name":"Ada","type":"user"},"repository":{"full_name":"acme/shop","type":"repository"},` +
	`"push":{"changes":[{"forced":false,"new":{"type":"branch","name":"main","target":{"type":"commit","hash":"{n}","date":"{time}"}}}]}}`

const messageEvent = `{"type":"contact.created","timestamp":"{time}","data":{"id":"con_{n}","email":"ada@example.com","first_name":"Ada"}}`

var samples = map[string]sample{
	"github":           {body: push, header: map[string]string{"X-GitHub-Event": "push", "X-GitHub-Hook-ID": "292430182"}},
	"gitea":            {body: push, header: map[string]string{"X-Gitea-Event": "push"}},
	"forgejo":          {body: push, header: map[string]string{"X-Forgejo-Event": "push"}},
	"gogs":             {body: push, header: map[string]string{"X-Gogs-Event": "push"}},
	"bitbucket":        {body: bitbucketPush, header: map[string]string{"X-Event-Key": "repo:push"}},
	"bitbucket-server": {body: bitbucketPush, header: map[string]string{"X-Event-Key": "repo:refs_changed"}},
	"gitlab": {
		body: `{"object_kind":"push","event_name":"push","ref":"refs/heads/main","checkout_sha":"{n}","user_username":"ada","project_id":15,` +
			`"project":{"id":15,"path_with_namespace":"acme/shop"},"commits":[{"id":"{n}","timestamp":"{time}"}],"total_commits_count":1}`,
		header: map[string]string{"X-Gitlab-Event": "Push Hook", "X-Gitlab-Instance": "https://gitlab.example.com"},
	},
	"stripe": {
		body: `{"id":"{id}","object":"event","api_version":"2025-03-31.basil","created":{unix},"type":"payment_intent.succeeded",` +
			`"data":{"object":{"id":"pi_{n}","object":"payment_intent","amount":1990,"currency":"eur","status":"succeeded"}},` +
			`"livemode":false,"pending_webhooks":1,"request":{"id":null,"idempotency_key":null}}`,
		idForm: "evt_%s",
	},
	"shopify": {
		body:   `{"admin_graphql_api_id":"gid://shopify/Order/{n}","created_at":"{time}","currency":"EUR","total_price":"19.90","financial_status":"paid"}`,
		header: map[string]string{"X-Shopify-Topic": "orders/paid", "X-Shopify-Shop-Domain": "acme.myshopify.com", "X-Shopify-API-Version": "2026-01"},
	},
	"slack": {
		body: `{"token":"","team_id":"T061EG9R6","api_app_id":"A0PNCHHK2","type":"event_callback","event_id":"{id}","event_time":{unix},` +
			`"event":{"type":"message","channel":"C024BE91L","user":"U2147483697","text":"Live long and prospect {n}","ts":"{unix}.000100"}}`,
		idForm: "Ev%s",
	},
	"standard-webhooks": {body: messageEvent},
	"svix":              {body: messageEvent},
	"clerk":             {body: `{"data":{"id":"user_{n}","object":"user","first_name":"Ada"},"object":"event","type":"user.created","timestamp":{ms}}`},
	"resend": {body: `{"type":"email.delivered","created_at":"{time}","data":{"email_id":"{n}","from":"shop@example.com",` +
		`"to":["ada@example.com"],"subject":"Your order"}}`},
	"openai": {body: `{"object":"event","id":"evt_{n}","type":"response.completed","created_at":{unix},"data":{"id":"resp_{n}"}}`},
	"linear": {
		body: `{"action":"create","type":"Issue","createdAt":"{time}","organizationId":"acme","data":{"id":"{n}","title":"Round prices half to even"},` +
			`"webhookTimestamp":{ms},"webhookId":"000042e3-d123-4980-b49f-8e140eef9329"}`,
		header: map[string]string{"Linear-Event": "Issue"},
	},
	"paddle": {
		body: `{"event_id":"{id}","event_type":"transaction.completed","occurred_at":"{time}","notification_id":"ntf_{n}",` +
			`"data":{"id":"txn_{n}","status":"completed","currency_code":"EUR"}}`,
		idForm: "evt_%s",
	},
	"square": {
		body: `{"merchant_id":"6SSW7HV8K2ST5","type":"payment.updated","event_id":"{id}","created_at":"{time}",` +
			`"data":{"type":"payment","id":"{n}","object":{"payment":{"id":"{n}","status":"COMPLETED"}}}}`,
		idForm: "%s",
	},
	"zoom": {body: `{"event":"meeting.started","event_ts":{ms},"payload":{"account_id":"acme","object":{"uuid":"{n}","id":"86674065462","topic":"Stand-up"}}}`},
	"twitch": {
		body: `{"subscription":{"id":"f1c2a387-161a-49f9-a165-0f21d7a4e1c4","type":"channel.follow","version":"2","status":"enabled"},` +
			`"event":{"user_id":"1234","user_name":"ada","broadcaster_user_id":"1337","followed_at":"{time}","note":"{n}"}}`,
		header: map[string]string{"Twitch-Eventsub-Message-Type": "notification", "Twitch-Eventsub-Subscription-Type": "channel.follow"},
	},
	"xquik": {
		body: `{"deliveryId":"{id}","streamEventId":"se_{n}","eventType":"tweet.new","occurredAt":"{time}",` +
			`"data":{"tweetId":"1893456789012345678","text":"hello {n}"}}`,
		idForm: "%s",
	},
	"meta": {body: `{"object":"whatsapp_business_account","entry":[{"id":"102290129340398","changes":[{"field":"messages","value":` +
		`{"messaging_product":"whatsapp","messages":[{"from":"16505551234","id":"wamid.{n}","timestamp":"{unix}","type":"text","text":{"body":"hello"}}]}}]}]}`},
	"discord": {
		body: `{"id":"{id}","application_id":"1234560123456789012","type":2,"token":"{n}","version":1,` +
			`"data":{"id":"9876543210987654321","name":"order","type":1},"channel_id":"645027906669510667"}`,
		idForm: "%d",
	},
}
