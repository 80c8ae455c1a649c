import Downloads

extension Transaction {
    func acknowledge(_ session: Name, through event: EventID) throws {
        _ = try self.session(session)
        let last = try lastEvent()
        guard event <= last else { throw StoreError.noSuchEvent(event, last: last) }
        try run(
            "UPDATE sessions SET acknowledged_through = max(acknowledged_through, ?) WHERE id = ?",
            [event, session.text])
        try acknowledgeFinishes(of: session, through: event)
    }

    private func acknowledgeFinishes(of session: Name, through event: EventID) throws {
        let batches = try rows(
            BatchRow.select + "WHERE session = ? AND state = 'finished' AND finish_event <= ?", [session.text, event])
        for row in batches {
            guard let batch = try BatchRow.batch(row).after(.finishAcknowledged) else { continue }
            try update(batch)
            countFinishes(-1)
        }
    }
}
