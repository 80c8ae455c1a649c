import Downloads
import Foundation

enum BatchRow {
    static let select = "SELECT * FROM batches "
    static let ofFinish = select + "WHERE finish_event = ?"

    static func batch(_ row: SQLRow) throws -> Batch {
        Batch(
            session: Name(trusted: row["session"]), number: row["number"], state: try state(row),
            counts: Batch.Counts(
                outstanding: row["outstanding"], succeeded: row["succeeded"], failed: row["failed"],
                cancelled: row["cancelled"]), firstEvent: row["first_event"])
    }

    static func columns(_ state: Batch.State) -> (due: Date?, finish: EventID?) {
        switch state {
        case .open: (nil, nil)
        case .due(let due): (due, nil)
        case .finished(let event), .acknowledged(let event): (nil, event)
        }
    }

    private static func state(_ row: SQLRow) throws -> Batch.State {
        switch try row.named("state", as: Batch.State.Name.self) {
        case .open: .open
        case .due: .due(row.time("due_at"))
        case .finished: .finished(row["finish_event"])
        case .acknowledged: .acknowledged(row["finish_event"])
        }
    }
}
