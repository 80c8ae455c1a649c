import Downloads
import Formats
import Foundation

public struct NewToken: Sendable {
    public var name: Name?
    public var grant: Permissions
    public var quotas: TokenQuotas
    public var expiresAt: Date?

    public init(name: Name? = nil, grant: Permissions, quotas: TokenQuotas = .none, expiresAt: Date? = nil) {
        self.name = name
        self.grant = grant
        self.quotas = quotas
        self.expiresAt = expiresAt
    }
}

/// The SHA-256 of a token's secret.
public struct TokenDigest: Sendable, Hashable {
    /// 32 bytes.
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// A token with the digests of its secrets.
struct StoredToken: Sendable {
    var token: Token
    var digest: TokenDigest
    /// Of the previous secret. It is accepted until `token.formerSecretUntil`.
    var formerDigest: TokenDigest?
}

/// Creates, revokes and rotates tokens. The store sees no secrets, only their digests. `tokens` has the present tokens.
extension Store {
    /// - Parameter note: the entry of the audit log, without its target; nil: no entry.
    public func createToken(
        _ new: NewToken, with digest: TokenDigest, audit note: AuditNote? = nil
    ) async throws -> Token {
        try await writer.write(onCommit: { [tokens] in tokens.put($0) }) { transaction in
            let stored = try transaction.createToken(new, with: digest)
            try transaction.audit(note, target: stored.token.id.text)
            return stored
        }.token
    }

    /// Revokes a token: requests with it are refused from now on.
    ///
    /// - Throws: `noSuchToken`.
    public func deleteToken(_ id: TokenID, audit note: AuditNote? = nil) async throws {
        try await writer.write(onCommit: { [tokens] in tokens.remove(id) }) { transaction in
            _ = try transaction.token(id)
            try transaction.run("DELETE FROM tokens WHERE id = ?", [id.text])
            transaction.working.transferQuotas.forget(.all)
            transaction.wake(.tokens)
            // Its quotas no longer delay its jobs.
            transaction.wake(.jobs)
            try transaction.audit(note)
        }
    }

    /// Replaces the secret of a token.
    ///
    /// - Parameter overlap: seconds for which the previous secret is still accepted. A secret before the previous one is
    ///   refused from now on.
    /// - Throws: `noSuchToken`.
    public func rotateToken(
        _ id: TokenID, to digest: TokenDigest, overlap: TimeInterval, audit note: AuditNote? = nil
    ) async throws -> Token {
        try await writer.write(onCommit: { [tokens] in tokens.put($0) }) { transaction in
            try transaction.audit(note)
            return try transaction.rotateToken(id, to: digest, overlap: overlap)
        }.token
    }

    public func pruneTokenBytes() async throws {
        try await writer.write { transaction in
            try transaction.run("DELETE FROM token_bytes WHERE day < ?", [QuotaDay(of: transaction.now).number])
        }
    }

    /// Stores when tokens were last used, unless no token was used since the last call.
    public func storeTokenUses() async throws {
        let uses = tokens.takeUses()
        guard !uses.isEmpty else { return }
        do {
            try await writer.write { try $0.noteUses(uses) }
        } catch {
            tokens.giveBack(uses)
            throw error
        }
    }
}

extension Transaction {
    func createToken(_ new: NewToken, with digest: TokenDigest) throws -> StoredToken {
        let id = TokenID.make(nextULID())
        let (sessions, locations) = (try TokenRow.text(new.grant.sessions), new.grant.locations?.map(\.text))
        try run(
            """
            INSERT INTO tokens (id, digest, name, scope, sessions, locations, quotas, created_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                id.text, Data(digest.bytes), new.name?.text, new.grant.scope.rawValue, sessions,
                try locations.map(RowCoding.text), try RowCoding.text(new.quotas), now.milliseconds,
                new.expiresAt?.milliseconds,
            ])
        working.transferQuotas.forget(.all)
        wake(.tokens)
        return try token(id)
    }

    func rotateToken(_ id: TokenID, to digest: TokenDigest, overlap: TimeInterval) throws -> StoredToken {
        let old = try token(id)
        let keepsFormer = overlap > 0
        try run(
            "UPDATE tokens SET digest = ?, former_digest = ?, former_until = ? WHERE id = ?",
            [
                Data(digest.bytes), keepsFormer ? Data(old.digest.bytes) : nil,
                keepsFormer ? now.addingTimeInterval(overlap).milliseconds : nil, id.text,
            ])
        wake(.tokens)
        return try token(id)
    }

    /// Keeps a later use that another service has stored. A use in the future is from before the clock was set back, and is
    /// replaced.
    func noteUses(_ uses: [TokenID: Date]) throws {
        for (id, time) in uses { try run(Self.noteUse, [time.milliseconds, id.text, now.milliseconds]) }
    }

    private static let noteUse = """
        UPDATE tokens SET last_used_at = ?1
        WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at < ?1 OR last_used_at > ?3)
        """

    fileprivate func token(_ id: TokenID) throws -> StoredToken {
        guard let row = try row("SELECT * FROM tokens WHERE id = ?", [id.text]) else {
            throw StoreError.noSuchToken(id)
        }
        return try TokenRow.token(row)
    }
}

enum TokenRow {
    static func token(_ row: SQLRow) throws -> StoredToken {
        let id = try TokenID(row["id"])
        let grant = Permissions(
            try row.named("scope", as: Scope.self), in: try sessions(row), to: try locations(row))
        guard let grant else {
            throw StoreError.failed(why: "token \(id) is an administrator of some sessions or locations only")
        }
        let token = try Token(
            id: id, name: (row["name"] as String?).map { Name(trusted: $0) }, grant: grant,
            quotas: try row.decoded("quotas", default: .none), createdAt: row.time("created_at"),
            expiresAt: row.optionalTime("expires_at"), lastUsedAt: row.optionalTime("last_used_at"),
            formerSecretUntil: row.optionalTime("former_until"))
        return try StoredToken(
            token: token, digest: TokenDigest(Array(row["digest"] as Data)),
            formerDigest: (row["former_digest"] as Data?).map { TokenDigest(Array($0)) })
    }

    /// nil: all.
    static func text(_ sessions: VisibleSessions) throws -> String? {
        switch sessions {
        case .all: nil
        case .matching(let patterns): try RowCoding.text(patterns.map(\.text))
        }
    }

    static func sessions(_ row: SQLRow) throws -> VisibleSessions {
        guard try (row["sessions"] as String?) != nil else { return .all }
        let texts = try row.decoded("sessions", as: [String].self)
        return .matching(texts.map { SessionPattern(trusted: $0) })
    }

    private static func locations(_ row: SQLRow) throws -> [Name]? {
        guard try (row["locations"] as String?) != nil else { return nil }
        return try row.decoded("locations", as: [String].self).map { Name(trusted: $0) }
    }
}

/// Conditions that a row must all meet, with the arguments of their `?`.
struct SQLConditions {
    private(set) var sql: String
    private(set) var arguments: SQLArguments

    init(_ condition: String, _ values: (any SQLValue)?...) {
        sql = condition
        arguments = SQLArguments(values)
    }

    mutating func add(_ condition: String, _ values: (any SQLValue)?...) {
        sql += " AND \(condition)"
        arguments += SQLArguments(values)
    }

    /// The condition holds for one of the values. Without values, there is no condition.
    mutating func addAny(_ condition: String, of values: [String]) {
        guard !values.isEmpty else { return }
        sql += " AND (\(values.map { _ in condition }.joined(separator: " OR ")))"
        arguments += SQLArguments(values)
    }

    /// The column names a visible session.
    mutating func add(_ visible: VisibleSessions, on column: String) {
        guard let (condition, names) = visible.condition(on: column) else { return }
        sql += " AND \(condition)"
        arguments += SQLArguments(names)
    }
}

extension VisibleSessions {
    /// The condition that the column names a visible session, with its arguments; nil if all sessions are visible.
    func condition(on column: String) -> (sql: String, arguments: [String])? {
        guard case .matching(let patterns) = self else { return nil }
        guard !patterns.isEmpty else { return ("0 = 1", []) }
        var arguments: [String] = []
        let conditions = patterns.map { pattern in
            guard let beginning = pattern.beginning else {
                arguments.append(pattern.text)
                return "\(column) = ?"
            }
            // No name contains `~`, and all of its characters come before `~`.
            arguments += [beginning, beginning + "~"]
            return "(\(column) >= ? AND \(column) < ?)"
        }
        return ("(\(conditions.joined(separator: " OR ")))", arguments)
    }
}
