extension Store {
    /// Returns when the writer has finished all changes that were requested before, whether they succeeded or failed.
    /// It adds a change without content, which syncs nothing.
    public func waitForWriter() async { try? await writer.write { _ in } }
}
