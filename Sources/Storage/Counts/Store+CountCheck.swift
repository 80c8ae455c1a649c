extension Store {
    /// Compares the kept counts with a full count, and corrects those that are wrong. It reads one snapshot, so no write
    /// waits for it.
    ///
    /// - Returns: the counts that were wrong.
    public func checkCounts() async throws -> [CountDrift] {
        let comparison = try await compareCounts()
        let drifts = comparison.drifts
        if !drifts.isEmpty { try await writer.write { try comparison.correct(in: $0) } }
        return drifts
    }

    func compareCounts() async throws(StoreError) -> CountComparison {
        try await read { db in try CountComparison(readFrom: db) }
    }
}
