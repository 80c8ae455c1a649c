import Downloads

extension NodeStatus {
    /// What is wrong with the addresses at which the nodes reach each other, in sentences for the log. It cannot be refused, because the
    /// other nodes can be about to stop.
    ///
    /// - Parameters:
    ///   - nodes: all nodes.
    ///   - number: of this node, which starts.
    public static func advice(on nodes: [NodeStatus], for number: Int64) -> [String] {
        guard let this = nodes.first(where: { $0.node.number == number }) else { return [] }
        let others = nodes.filter { $0.node.number != number && $0.state != .stopped }
        var advice = others.filter { $0.url != nil && $0.url == this.url }.map {
            "Node \($0.node.number) has the same --node-url as this one, \($0.url ?? ""). The nodes cannot fetch files from both. Give each node an address of its own."
        }
        let silent = (others.isEmpty ? [] : [this]) + others
        // With a shared folder, each node has all files.
        advice += silent.filter { $0.url == nil && !$0.sharesDownloads }.map {
            let name = $0.node.number == number ? "This node" : "Node \($0.node.number)"
            return
                "\(name) has no --node-url, and other nodes use the database: they answer 503 to requests for the files that \(name.lowercasedFirst) has downloaded. Start it with --node-url."
        }
        return advice
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
