import Downloads
import Foundation
import Locks

/// Refused requests that are not stored yet. Equal refusals are counted, so that a flood of them becomes neither a flood
/// of commits nor of rows.
public final class RefusalLog: Sendable {
    struct Key: Hashable, Sendable {
        var note: AuditNote
        var reason: String
    }

    struct Refusal: Sendable {
        var first: Date
        var count: Int
    }

    private let refusals = Locked<[Key: Refusal]>([:])

    /// - Parameter reason: the kind of the problem.
    public func add(_ note: AuditNote, _ reason: String, at time: Date) {
        refusals.withLock { refusals in
            var key = Key(note: note, reason: reason)
            if refusals[key] == nil, refusals.count >= Self.mostKinds {
                key.note = AuditNote(caller: nil, name: nil, address: "others", action: "others")
            }
            refusals[key, default: Refusal(first: time, count: 0)].count += 1
        }
    }

    /// Removes and returns all refusals, the oldest first.
    func takeAll() -> [(key: Key, refusal: Refusal)] {
        let taken = refusals.withLock { refusals in
            defer { refusals = [:] }
            return refusals
        }
        return taken.map { (key: $0, refusal: $1) }.sorted { $0.refusal.first < $1.refusal.first }
    }

    /// The refusals could not be stored.
    func giveBack(_ taken: [(key: Key, refusal: Refusal)]) {
        refusals.withLock { refusals in
            for (key, refusal) in taken {
                let later = refusals[key]?.count ?? 0
                refusals[key] = Refusal(first: refusal.first, count: refusal.count + later)
            }
        }
    }

    /// The number of different refusals that are counted separately between two commits.
    static let mostKinds = 1000
}
