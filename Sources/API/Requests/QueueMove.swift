import Downloads

/// The body of `POST /v1/jobs/{id}/move`: one place in the queue.
enum QueueMove {
    case place(QueuePlace)
    /// 0 is the top; an index beyond the end is the bottom.
    case position(Int)

    init(reading reader: inout FieldReader) throws(Problem) {
        let moves: [(name: String, move: QueueMove)] = [
            try reader.choice("to", of: End.self).map { ("to", .place($0 == .top ? .top : .bottom)) },
            try reader.string("before").map { ("before", .place(.before(JobID($0)))) },
            try reader.string("after").map { ("after", .place(.after(JobID($0)))) },
            try reader.integer("position", in: 0...Int64(Int32.max)).map { ("position", .position(Int($0))) },
        ].compactMap { $0 }
        guard let first = moves.first else {
            throw reader.missing("to", "top or bottom; or send before, after or position instead")
        }
        guard moves.count == 1 else {
            throw reader.invalid(moves[1].name, "and `\(first.name)` are both given; a job is moved to one place")
        }
        self = first.move
    }

    private enum End: String, CaseIterable { case top, bottom }
}
