import Downloads
import Foundation

/// Starts of requests to a host that paces them, which a node claims before it makes them. So all nodes of a database together keep the
/// pace.
public struct StartClaim: Sendable, Equatable {
    public var host: String
    /// nil: for the jobs of all sessions.
    public var session: Name?
    /// Seconds from one start to the next.
    public var interval: Double
    /// 1 or more.
    public var count: Int

    public init(host: String, session: Name?, interval: Double, count: Int) {
        (self.host, self.session, self.interval, self.count) = (host, session, interval, count)
    }
}

extension Schema {
    /// The first start that no node has claimed, of each host with paced requests. `session` is empty for the jobs of all sessions. A
    /// start that is far ahead is from before a jump of the clock, and counts as now.
    static let hostStarts = Table(
        name: "host_starts",
        columns: [.text("host", "NOT NULL"), .text("session", "NOT NULL"), .integer("next_start", "NOT NULL")],
        key: ["host", "session"], since: 23, isOfPostgres: true, storage: "fillfactor = 50", isDurable: false)
}

extension Store {
    /// - Returns: the claimed starts of each claim: from now on, at its interval, and after those that others have claimed.
    public func claimStarts(_ claims: [StartClaim]) async throws -> [[Date]] {
        try await writer.write { transaction in try claims.map { try transaction.claimStarts($0) } }
    }
}

extension Transaction {
    fileprivate func claimStarts(_ claim: StartClaim) throws -> [Date] {
        let interval = claim.interval * 1000
        let length = Int64((interval * Double(claim.count)).rounded(.up))
        let (begin, end) = (now.milliseconds, now.milliseconds + length)
        let farAhead = begin + max(60_000, 100 * length)
        let next: Int64? = try db.value(
            """
            INSERT INTO host_starts (host, session, next_start) VALUES (?1, ?2, ?3)
            ON CONFLICT (host, session) DO UPDATE SET next_start =
                CASE WHEN host_starts.next_start > ?6 THEN ?3 ELSE max(host_starts.next_start, ?4) + ?5 END
            RETURNING next_start
            """, [claim.host, claim.session?.text ?? "", end, begin, length, farAhead])
        let first = Double((next ?? end) - length)
        return (0..<claim.count).map { Date(timeIntervalSince1970: (first + Double($0) * interval) / 1000) }
    }

    /// Those of hosts that no node has asked for a day.
    func dropOldStarts() throws {
        guard node != nil else { return }
        let old = now.addingTimeInterval(-86_400)
        try run("DELETE FROM host_starts WHERE next_start < ?", [old.milliseconds])
    }
}
