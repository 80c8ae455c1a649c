import Downloads
import Foundation
import GRDB

/// Appends many events at once.
extension Transaction {
    /// Appends the events of jobs in their order, with a delivery for each webhook that wants one.
    func append(_ events: [NewEvent]) throws {
        var receivers: [Name: [EventType: [WebhookReceiver]]] = [:]
        for first in stride(from: 0, to: events.count, by: Self.eventsInAStatement) {
            let chunk = events[first..<min(first + Self.eventsInAStatement, events.count)]
            for (id, event) in zip(try insert(chunk), chunk) {
                note(
                    Event(
                        id: id, type: event.type, time: Date(milliseconds: now.milliseconds),
                        session: event.job.session, job: event.job.id, data: event.data))
                let known = receivers[event.job.session]?[event.type]
                let webhooks = try known ?? self.receivers(of: event.type, in: event.job.session)
                receivers[event.job.session, default: [:]][event.type] = webhooks
                for webhook in webhooks { try deliver(id, event.type, in: event.job.session, to: webhook) }
            }
        }
    }

    /// A chunk of another size is inserted event by event, so that a connection prepares two statements only.
    private static let eventsInAStatement = 50

    /// - Returns: their identifiers. Only this writer appends events, so they are consecutive.
    private func insert(_ events: ArraySlice<NewEvent>) throws -> ClosedRange<EventID> {
        if events.count == Self.eventsInAStatement {
            try insert(events, Self.insertion(of: events.count))
        } else {
            for index in events.indices { try insert(events[index...index], Self.insertion(of: 1)) }
        }
        let last = db.lastInsertedRowID
        return last - Int64(events.count) + 1...last
    }

    private func insert(_ events: ArraySlice<NewEvent>, _ sql: String) throws {
        var arguments: [(any DatabaseValueConvertible)?] = []
        arguments.reserveCapacity(events.count * 5)
        for event in events {
            arguments += [
                event.type.rawValue, now.milliseconds, event.job.session.text, event.job.id.text, event.data,
            ]
        }
        try run(sql, StatementArguments(arguments))
    }

    private static func insertion(of count: Int) -> String {
        "INSERT INTO events (type, time, session, job, data) VALUES "
            + Array(repeating: "(?, ?, ?, ?, ?)", count: count).joined(separator: ", ")
    }
}
