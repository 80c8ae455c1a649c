/// What several connections to one file need.
extension Schema {
    /// `[[first, end], ...]` where the bytes had are not simply the first `bytes_durable`. Their end can lie beyond that
    /// number, never beyond the size.
    static let gaps = """
        ALTER TABLE parts ADD COLUMN ranges TEXT CHECK (ranges LIKE '[[%]]');

        """
}
