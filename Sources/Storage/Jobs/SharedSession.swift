import Downloads
import Foundation

/// What the jobs of one session share while `TransitionWriter` writes them.
struct SharedSession {
    private let name: Name
    private let finishDelay: TimeInterval
    /// `session.waiting` was announced, and no job was queued since.
    private var waitsForHelp: Bool
    /// Jobs that wait for help of the client.
    var blockedJobs: Int
    /// The batch that takes jobs. Every outstanding job is in it.
    private var batch: Batch?
    private var isBatchChanged = false

    init(_ name: Name, in transaction: Transaction) throws {
        self.name = name
        finishDelay = try transaction.session(name).finishDelay
        waitsForHelp = try transaction.row("SELECT waits_for_help FROM sessions WHERE id = ?", [name.text])?[0] ?? false
        blockedJobs = try transaction.blockedJobs(of: name)
        batch = try transaction.currentBatch(name)
    }

    mutating func leaveBatch(_ number: Int, _ ending: BatchSignal.Ending, in transaction: Transaction) {
        let due = transaction.now.addingTimeInterval(finishDelay)
        guard let before = batch, before.number == number, let after = before.after(.jobEnded(ending, due: due))
        else { return }
        (batch, isBatchChanged) = (after, true)
        if case .due = after.state { transaction.wake(.batches) }
    }

    /// Whether every outstanding job is blocked, which was not announced yet.
    var isNewlyBlocked: Bool {
        !waitsForHelp && blockedJobs > 0 && batch?.counts.outstanding == blockedJobs
    }

    mutating func clearWaiting(in transaction: Transaction) throws {
        guard waitsForHelp else { return }
        try transaction.clearWaiting(of: name)
        waitsForHelp = false
    }

    func writeBatch(in transaction: Transaction) throws {
        if let batch, isBatchChanged { try transaction.update(batch) }
    }
}
