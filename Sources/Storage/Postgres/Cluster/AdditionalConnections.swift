import Downloads

extension Store {
    /// Claims additional connections of this node, so that the limits of hosts hold over all nodes.
    ///
    /// - Parameters:
    ///   - used: the connections that exist. Earlier claims beyond them are given back.
    ///   - wanted: connections to be opened.
    ///   - limits: see `admitJobs`.
    /// - Returns: the connections that may exist from now on.
    public func claimConnections(
        _ used: [AdmissionLimits.Taken], wanted: [AdmissionLimits.Taken],
        _ limits: @escaping @Sendable () -> AdmissionLimits
    ) async throws -> [AdmissionLimits.Taken] {
        try await writer.write { try $0.claimConnections(used, wanted: wanted, limits()) }
    }
}

/// The connections of running jobs besides the first one of each, on all nodes.
///
/// A node asks for a connection before it opens it. So admission, which counts these rows, and the nodes together never
/// exceed the limits of a host.
extension Transaction {
    /// - Parameter opened: by this node. In a database of its own, a service claims none.
    func additionalConnections(opened: [AdmissionLimits.Taken]) throws -> [AdmissionLimits.Taken] {
        let claimed = try rows(Self.additionalConnections).map {
            try (node: $0["node"] as Int64, taken: Self.taken($0))
        }
        let own = claimed.filter { $0.node == node?.number }.map { $0.taken } + opened
        let counts = Dictionary(own.map { ([$0.session.text, $0.host], $0) }) { $0.count > $1.count ? $0 : $1 }
        return claimed.filter { $0.node != node?.number }.map { $0.taken } + counts.values
    }

    private static func taken(_ row: SQLRow) throws -> AdmissionLimits.Taken {
        try .init(session: Name(trusted: row["session"]), host: row["host"], count: row["count"])
    }

    /// A node that has ended has no connections.
    private static let additionalConnections = """
        SELECT node, session, host, count FROM additional_connections
        WHERE node IN (SELECT number FROM nodes WHERE expires_at IS NOT NULL)
        """

    /// Replaces the connections of this node, and adds those that it wants as far as the limits allow. Nothing is written if
    /// nothing changes.
    ///
    /// - Parameters:
    ///   - used: the connections that exist.
    ///   - wanted: connections to be opened, in the order of the requests.
    /// - Returns: the connections that may exist from now on.
    func claimConnections(
        _ used: [AdmissionLimits.Taken], wanted: [AdmissionLimits.Taken], _ limits: AdmissionLimits
    ) throws -> [AdmissionLimits.Taken] {
        guard let node else { return [] }
        try replaceConnections(of: node, by: used)
        guard !wanted.isEmpty else { return used }
        var slots = try slots(limits)
        var granted = used
        for wish in wanted {
            guard let configuration = try configurationIfExists(of: wish.session) else { continue }
            for _ in 0..<wish.count where slots.hasRoom(at: wish.host, for: wish.session, configuration) {
                slots.connect(wish.session, host: wish.host, count: 1)
                granted.append(.init(session: wish.session, host: wish.host, count: 1))
                try add(granted[granted.count - 1], of: node)
            }
        }
        return granted
    }

    private func configurationIfExists(of session: Name) throws -> SessionConfiguration? {
        do { return try configuration(of: session) } catch StoreError.noSuchSession { return nil }
    }

    private func replaceConnections(of node: Node, by used: [AdmissionLimits.Taken]) throws {
        let stored = try rows(
            "SELECT session, host, count FROM additional_connections WHERE node = ?", [node.number])
        let before = Set(
            try stored.map { try "\($0["session"] as String) \($0["host"] as String) \($0["count"] as Int)" })
        guard before != Set(used.map { "\($0.session.text) \($0.host) \($0.count)" }) else { return }
        try run("DELETE FROM additional_connections WHERE node = ?", [node.number])
        for taken in used { try add(taken, of: node) }
        // Connections were given back.
        wake(.jobs)
    }

    private func add(_ taken: AdmissionLimits.Taken, of node: Node) throws {
        try run(
            """
            INSERT INTO additional_connections (node, session, host, count) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (node, session, host) DO UPDATE SET count = additional_connections.count + ?4
            """, [node.number, taken.session.text, taken.host, taken.count])
    }
}
