/// Version 14: the addresses to which a webhook may be posted.
extension Schema {
    /// Webhooks of earlier versions were declared by administrators.
    static let reach = """
        ALTER TABLE webhooks ADD COLUMN reach TEXT NOT NULL DEFAULT 'any' CHECK (reach IN ('any', 'public'));

        """
}
