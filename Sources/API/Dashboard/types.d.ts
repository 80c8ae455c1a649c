// Types that many modules of the page share, for tsc. openapi.yaml describes the documents.

type Job = import("./client.js").Document;
type Session = import("./client.js").Document;
type Webhook = import("./client.js").Document;
type Delivery = import("./client.js").Document;
type Attempt = import("./client.js").Document;
type Host = import("./client.js").Document;
type Progress = import("./client.js").Progress;
type Failure = import("./client.js").Document;
type ServiceEvent = import("./client.js").Document;
type Child = import("./render.js").Child;
type Description = import("./render.js").Description;
/** A term and its value. A pair without a value is left out. */
type Fact = [string, Child];
/** What a list of downloads is narrowed to. Empty texts select all. */
type Filters = Record<"session" | "state" | "tag" | "text", string>;
type Order = { key: string, isDescending: boolean };
type Disk = { free_bytes: number, total_bytes: number };
/** Whether an endpoint accepts what it gets. */
type Health = { kind: "disabled" | "failing" | "well" | "unused", words: string, last?: string };
/** What the page knows of a webhook. */
type KnownWebhook = { webhook: Webhook, deliveries: Delivery[], health: Health };
/** A field of a form: `options` makes a menu, `more` puts it under “More options”, `pointer` is the member that the service names. */
type Field = { name: string, label: string, [attribute: string]: any };
interface Element { checkVisibility(): boolean }
