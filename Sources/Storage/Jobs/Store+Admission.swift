import Downloads
import Formats
import Foundation
import GRDB

/// Which jobs run: first those of higher priority; among equals each session gets its share, and within a session the
/// oldest goes first, as slots, sessions and hosts allow.
extension Store {
    /// Ends the waits whose time has come and gives the free slots away.
    ///
    /// - Parameter onCommit: see `Writer`: the attempts are noted before any later change is begun.
    public func admitJobs(
        _ limits: AdmissionLimits, onCommit: @escaping @Sendable ([AdmittedJob]) -> Void
    ) async throws -> AdmissionRound {
        try await writer.write(onCommit: { onCommit($0.admitted) }) { transaction in
            try transaction.endWaits()
            let admitted = try transaction.admit(limits)
            return AdmissionRound(admitted: admitted, nextWaitEnds: try transaction.nextWaitEnds())
        }
    }
}

extension Store {
    /// The downloads folder works again: the jobs that wait for it are due now.
    public func endStorageWaits() async throws {
        try await writer.write { transaction in
            try transaction.run(
                "UPDATE jobs SET retry_at = ? WHERE retry_at IS NOT NULL AND reason = 'storage'",
                [transaction.now.milliseconds])
            transaction.wake(.jobs)
        }
    }
}
