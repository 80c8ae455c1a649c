/// Version 11: headers and TLS settings of webhooks, and the statistics of their endpoints.
extension Schema {
    /// `webhooks.headers` and `webhooks.tls` are JSON, as in the configuration of a session; NULL is the default.
    ///
    /// `delivery_attempts_by_webhook` has all that the statistics of an endpoint read. Its entries arrive in the order of
    /// time, so a commit changes one page of it for each webhook.
    static let endpoints = """
        ALTER TABLE webhooks ADD COLUMN headers TEXT;
        ALTER TABLE webhooks ADD COLUMN tls TEXT;
        ALTER TABLE delivery_attempts ADD COLUMN webhook INTEGER NOT NULL DEFAULT 0;
        UPDATE delivery_attempts SET webhook = (SELECT webhook FROM deliveries WHERE id = delivery);
        CREATE INDEX delivery_attempts_by_webhook ON delivery_attempts (webhook, at, status, latency_seconds);

        """
}
