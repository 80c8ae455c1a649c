import Downloads
import Foundation

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

    /// - Returns: their identifiers.
    private func insert(_ events: ArraySlice<NewEvent>) throws -> ClosedRange<EventID> {
        let ids = try numbers.take(events.count, in: db)
        var values: [SQLArguments.Value] = []
        values.reserveCapacity(events.count * 6)
        for (id, event) in zip(ids, events) {
            values.append(id)
            values.append(event.type.rawValue)
            values.append(now.milliseconds)
            values.append(event.session.text)
            values.append(event.job.text)
            values.append(event.data)
        }
        try Self.insertion.run(values, rows: events.count, in: self)
        return ids
    }

    private static let insertion = RowInsertion("events (id, type, time, session, job, data)", columns: 6)
}
