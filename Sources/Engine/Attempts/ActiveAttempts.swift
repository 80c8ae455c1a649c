import Downloads
import Locks

/// The attempts under way, by job. Entries come and go on the writer's thread, right after the commit that begins or
/// ends the attempt, so that they agree with the states in the database.
final class ActiveAttempts: Sendable {
    private let attempts = Locked<[JobID: Attempt]>([:])

    var count: Int { attempts.withLock { $0.count } }
    var all: [Attempt] { attempts.withLock { Array($0.values) } }

    subscript(job: JobID) -> Attempt? { attempts.withLock { $0[job] } }

    func begin(_ attempt: Attempt) { attempts.withLock { $0[attempt.job.id] = attempt } }
    func end(_ job: JobID) { attempts.withLock { $0[job] = nil } }
}
