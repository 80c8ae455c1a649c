/// Version 4: parts with gaps.
extension Schema {
    /// `[[first, end], ...]` when the ranges are not one prefix of `bytes_durable` bytes. Their end can be above that
    /// number, but never above the size.
    static let gaps = """
        ALTER TABLE parts ADD COLUMN ranges TEXT CHECK (ranges LIKE '[[%]]');

        """
}
