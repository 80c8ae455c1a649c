/// How often a delivery was asked for, and whether its endpoint has ever taken it.
extension Schema {
    /// `requests`: the event that made the delivery counts as one, and each redelivery or recovery as another. An attempt
    /// settles the request under which it began, and no later one.
    ///
    /// `is_accepted`: an endpoint that has answered 2xx has taken the event, also when it refuses a later repetition.
    static let redelivery = """
        ALTER TABLE deliveries ADD COLUMN requests INTEGER NOT NULL DEFAULT 1 CHECK (requests >= 1);
        ALTER TABLE deliveries ADD COLUMN is_accepted INTEGER NOT NULL DEFAULT 0 CHECK (is_accepted IN (0, 1));
        UPDATE deliveries SET is_accepted = 1 WHERE state = 'acknowledged';

        """
}
