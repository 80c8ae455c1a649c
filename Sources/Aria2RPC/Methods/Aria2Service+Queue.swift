import Downloads
import Formats
import Storage

/// Places in the queue. aria2 counts them over the whole queue, also over jobs of other priorities.
extension Aria2Service {
    func changePosition(_ parameters: inout RPCParameters) async throws -> JSON {
        let gid = try parameters.gid()
        let (offset, how) = (try parameters.integer(), try parameters.string())
        guard let origin = PositionOrigin(rawValue: how) else { throw RPCError("Illegal argument.") }
        let job = try await job(gid, isPresent: true)
        return .count(try await onPresentQueue { try await move(job, by: offset, from: origin, in: $0) })
    }

    /// - Returns: the job's new position.
    private func move(_ job: Job, by offset: Int, from origin: PositionOrigin, in queue: [JobID]) async throws -> Int {
        guard let present = queue.firstIndex(of: job.id) else {
            throw RPCError("GID#\(job.aria2GID) not found in the waiting queue.")
        }
        let wanted = origin.position(offset: offset, present: present, count: queue.count)
        guard wanted != present else { return present }
        let others = queue.filter { $0 != job.id }
        let place = try await place(at: wanted, of: others, for: job.spec.priority ?? .normal)
        let moved = try await store.moveJob(job.id, to: place)
        return try await store.queue(of: session).firstIndex(of: moved.id) ?? wanted
    }

    /// The place at a position of a queue, for a job of this priority. Jobs of another priority are no neighbours: the place
    /// is then the end that is next to them.
    func place(at position: Int, of others: [JobID], for priority: Priority) async throws -> QueuePlace {
        if position == 0 { return .top }
        if position >= others.count { return .bottom }
        let next = try await store.storedJob(others[position])
        let rank = (next.spec.priority ?? .normal).rank
        if rank == priority.rank { return .before(next.id) }
        return rank < priority.rank ? .top : .bottom
    }

    /// Carries out a change that depends on the queue. If a neighbour of the new place has started, has ended or was
    /// deleted since the queue was read, the queue is read again.
    ///
    /// - Throws: also `StoreError.moveRefused`, if the change is refused again and again.
    func onPresentQueue<Value>(_ change: ([JobID]) async throws -> Value) async throws -> Value {
        for _ in 1..<Self.mostQueueReads {
            do {
                return try await change(try await store.queue(of: session))
            } catch StoreError.moveRefused, StoreError.noSuchJob {
                continue
            }
        }
        return try await change(try await store.queue(of: session))
    }

    private static let mostQueueReads = 10
}

/// The third parameter of `aria2.changePosition`.
private enum PositionOrigin: String {
    case set = "POS_SET"
    case current = "POS_CUR"
    case end = "POS_END"

    func position(offset: Int, present: Int, count: Int) -> Int {
        let position =
            switch self {
            case .set: offset
            case .current: present.addingReportingOverflow(offset).partialValue
            case .end: (count - 1).addingReportingOverflow(offset).partialValue
            }
        return min(max(0, position), count - 1)
    }
}
