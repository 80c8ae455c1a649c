import Downloads
import Foundation
import GRDB

/// Appends many events at once.
extension Transaction {
    /// Appends the events of jobs in their order, with a delivery for each webhook that wants one.
    func append(_ events: [NewEvent]) throws {
        var receivers: [Name: [EventType: [WebhookReceiver]]] = [:]
        let time = Date(milliseconds: now.milliseconds)
        for chunk in RowInsertion.chunks(events) {
            for (id, event) in zip(try insert(chunk), chunk) {
                note(
                    Event(
                        id: id, type: event.type, time: time,
                        session: event.session, job: event.job, data: event.data))
                let known = receivers[event.session]?[event.type]
                let webhooks = try known ?? self.receivers(of: event.type, in: event.session)
                receivers[event.session, default: [:]][event.type] = webhooks
                for webhook in webhooks { try deliver(id, event.type, in: event.session, to: webhook) }
            }
        }
    }

    /// - Returns: their identifiers. Only this writer appends events, so they are consecutive.
    private func insert(_ events: ArraySlice<NewEvent>) throws -> ClosedRange<EventID> {
        var values: [(any DatabaseValueConvertible)?] = []
        values.reserveCapacity(events.count * 5)
        for event in events {
            values.append(event.type.rawValue)
            values.append(now.milliseconds)
            values.append(event.session.text)
            values.append(event.job.text)
            values.append(event.data)
        }
        try Self.insertion.run(values, rows: events.count, in: self)
        let last = db.lastInsertedRowID
        return last - Int64(events.count) + 1...last
    }

    private static let insertion = RowInsertion("events (type, time, session, job, data)", columns: 5)
}
