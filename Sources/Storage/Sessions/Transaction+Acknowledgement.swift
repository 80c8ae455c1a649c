import Downloads

extension Transaction {
    func acknowledge(_ session: Name, through event: EventID) throws {
        let before = try self.session(session)
        let last = try lastEvent()
        guard event <= last else { throw StoreError.noSuchEvent(event, last: last) }
        try run(
            "UPDATE sessions SET acknowledged_through = max(acknowledged_through, ?) WHERE id = ?",
            [event, session.text])
        let batches = try rows(
            BatchRow.select + "WHERE session = ? AND state = 'finished' AND finish_event <= ?", [session.text, event])
        for batch in batches { try acknowledge(batch) }
        try noteConsumer(of: session)
        // The new consumer has not come to the later finishes yet.
        if try self.session(session).expectsAcknowledgement, !before.expectsAcknowledgement {
            try awaitFinishes(of: session)
        }
    }

    func acknowledge(_ row: SQLRow) throws {
        guard let batch = try BatchRow.batch(row).after(.finishAcknowledged) else { return }
        try update(batch)
        if row["is_awaited"] { countFinishes(-1) }
    }

    /// Notes that something can acknowledge the finishes of the session from now on.
    func noteConsumer(of session: Name) throws {
        var session = try self.session(session)
        guard !session.hasConsumer else { return }
        session.hasConsumer = true
        try run(
            "UPDATE sessions SET has_consumer = 1, expects_acknowledgement = ? WHERE id = ?",
            [session.expectsAcknowledgement, session.id.text])
        working.sessions.forget(session.id)
    }

    /// The configuration of the session has changed: all of its unacknowledged finishes are awaited, or none.
    func noteExpectation(of session: Name, before: Session) throws {
        let isExpected = try self.session(session).expectsAcknowledgement
        guard isExpected != before.expectsAcknowledgement else { return }
        try run("UPDATE sessions SET expects_acknowledgement = ? WHERE id = ?", [isExpected, session.text])
        if isExpected { return try awaitFinishes(of: session) }
        countFinishes(
            -(try changedRows(
                "UPDATE batches SET is_awaited = 0 WHERE session = ? AND state = 'finished' AND is_awaited = 1",
                [session.text])))
    }

    private func awaitFinishes(of session: Name) throws {
        countFinishes(
            try changedRows(
                "UPDATE batches SET is_awaited = 1 WHERE session = ? AND state = 'finished' AND is_awaited = 0",
                [session.text]))
    }

    /// - Returns: false if the finish is acknowledged meanwhile, or was reported before.
    func report(_ finish: UnacknowledgedFinish) throws -> Bool {
        try changedRows(
            """
            UPDATE batches SET is_reported = 1
            WHERE session = ? AND number = ? AND state = 'finished' AND is_awaited = 1 AND is_reported = 0
            """, [finish.session.text, finish.batch]) > 0
    }
}
