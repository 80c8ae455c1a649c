import Downloads

/// The connections of running jobs besides the first one of each, on all nodes.
///
/// A node asks for a connection before it opens it. So admission, which counts these rows, and the nodes together never
/// exceed the limits of a host.
extension Transaction {
    func additionalConnections() throws -> [AdmissionLimits.Taken] {
        try rows("SELECT session, host, sum(count) AS n FROM additional_connections GROUP BY session, host").map {
            row in
            AdmissionLimits.Taken(session: Name(trusted: row["session"]), host: row["host"], count: row["n"])
        }
    }

    /// Replaces the connections of this node, and adds those that it wants as far as the limits allow.
    ///
    /// - Parameters:
    ///   - used: the connections that exist.
    ///   - wanted: connections to be opened, in the order of the requests.
    /// - Returns: the connections that may exist from now on.
    func claimConnections(
        _ used: [AdmissionLimits.Taken], wanted: [AdmissionLimits.Taken], _ limits: AdmissionLimits
    ) throws -> [AdmissionLimits.Taken] {
        guard let node else { return [] }
        try run("DELETE FROM additional_connections WHERE node = ?", [node.number])
        for taken in used { try store(taken, of: node) }
        // Connections were given back.
        if wanted.isEmpty { wake(.jobs) }
        var slots = try slots(limits)
        var granted = used
        for wish in wanted {
            let configuration = try configuration(of: wish.session)
            for _ in 0..<wish.count where slots.hasRoom(at: wish.host, for: wish.session, configuration) {
                slots.connect(wish.session, host: wish.host, count: 1)
                granted.append(.init(session: wish.session, host: wish.host, count: 1))
                try store(granted[granted.count - 1], of: node)
            }
        }
        return granted
    }

    private func store(_ taken: AdmissionLimits.Taken, of node: Node) throws {
        try run(
            """
            INSERT INTO additional_connections (node, session, host, count) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (node, session, host) DO UPDATE SET count = additional_connections.count + ?4
            """, [node.number, taken.session.text, taken.host, taken.count])
    }
}
