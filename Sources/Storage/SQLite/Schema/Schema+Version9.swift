/// Version 9: repeated requests for a delivery, and whether its endpoint has accepted it.
extension Schema {
    /// `requests`: how often the delivery was requested. The event counts as one, and each redelivery or recovery as
    /// another. An attempt settles only the request under which it began.
    ///
    /// `is_accepted`: an endpoint has answered 2xx. It stays set if the endpoint refuses a repetition.
    static let redelivery = """
        ALTER TABLE deliveries ADD COLUMN requests INTEGER NOT NULL DEFAULT 1 CHECK (requests >= 1);
        ALTER TABLE deliveries ADD COLUMN is_accepted INTEGER NOT NULL DEFAULT 0 CHECK (is_accepted IN (0, 1));
        UPDATE deliveries SET is_accepted = 1 WHERE state = 'acknowledged';

        """
}
