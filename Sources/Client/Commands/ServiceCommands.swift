import ArgumentParser
import Formats

enum ShowStats: ActionName {
    static let action = Action<NoOperands>(
        "stats", "Shows the service's statistics: jobs, rates, slots, disk.", examples: "stats", "stats --json"
    ) { _, service, console in
        let response = try await service.send("GET", RequestPath("stats"))
        let fields = try FieldList(response.document(StatsDocument.self), of: service.address)
        try console.isJSON ? console.print(response.text) : console.print(fields)
    }
}

struct StatsDocument: Decodable, Sendable {
    var version: String
    var uptimeSeconds: Double
    var jobs: [String: Int]
    var sessions: Int
    var lastEvent: Int64
    var deliveriesPending: Int
    var finishesUnacknowledged: Int
    var bytesPerSecond: Double
    var bytesReceived: Int64
    var throughput: Throughput
    var slots: Slots
    var disk: Disk?

    struct Throughput: Decodable, Sendable {
        var intervalSeconds: Int
        var bytesPerSecond: [Double]
    }

    struct Slots: Decodable, Sendable {
        var used: Int
        var max: Int
    }

    struct Disk: Decodable, Sendable {
        var freeBytes: Int64
        var totalBytes: Int64
    }
}

extension FieldList {
    fileprivate init(_ stats: StatsDocument, of address: ServiceAddress) {
        add("service", "fetchd \(stats.version) at \(address)")
        add("up for", DisplayFormat.duration(stats.uptimeSeconds))
        let states = JobStateArgument.allCases.map(\.rawValue)
        add("jobs", states.compactMap { state in stats.jobs[state].map { "\($0) \(state)" } }.joined(separator: ", "))
        add("slots", "\(stats.slots.used) of \(stats.slots.max) taken")
        let total = DisplayFormat.bytes(stats.bytesReceived)
        add("receiving", "\(DisplayFormat.rate(stats.bytesPerSecond)); \(total) since the start")
        add("lately", Self.throughput(stats.throughput))
        add("sessions", "\(stats.sessions)")
        add("deliveries", "\(stats.deliveriesPending) pending")
        add("finishes", "\(stats.finishesUnacknowledged) unacknowledged")
        add("last event", "\(stats.lastEvent)")
        add(
            "disk",
            stats.disk.map { "\(DisplayFormat.bytes($0.freeBytes)) free of \(DisplayFormat.bytes($0.totalBytes))" })
    }

    private static func throughput(_ throughput: StatsDocument.Throughput) -> String? {
        let rates = throughput.bytesPerSecond
        guard let highest = rates.max() else { return nil }
        let average = rates.reduce(0, +) / Double(rates.count)
        let seconds = Double(rates.count * throughput.intervalSeconds)
        return "highest \(DisplayFormat.rate(highest)), average \(DisplayFormat.rate(average)) in the last "
            + "\(DisplayFormat.duration(seconds))"
    }
}

// MARK: - Health

struct HealthCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "health", "Exits with status 0 if the service is ready.",
        discussion: """
            For container engines and scripts. The command sends GET /readyz, which needs no token. If the service is not \
            ready, it prints the reason and exits with status 69. It waits for five seconds at most.
            """,
        examples: "health", "health --json")

    private struct Readiness: Decodable { var status: String }

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let patience = self.service.patience?.seconds ?? 5
        let response = try await service.limited(to: .seconds(patience)).send("GET", .readiness)
        let readiness = try response.document(Readiness.self)
        guard readiness.status == "ready" else {
            throw ClientError.notFetchd(service.address, "the status of /readyz is '\(Printable(readiness.status))'")
        }
        try console.isJSON ? console.print(response.text) : console.print("ready")
    }
}

// MARK: - Nodes

struct NodesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "nodes", "Lists the nodes: the services that share a PostgreSQL database. Forgets those that never return.",
        discussion: "'fetchd nodes' is 'fetchd nodes list'. See docs/many-machines.md.", examples: "nodes",
        "nodes forget 3",
        subcommands: [ListNodes.command, ForgetNode.command], defaultSubcommand: ListNodes.command)
}

enum ListNodes: ActionName {
    static let action = Action<NoOperands>(
        "list", "Lists the nodes, by number.",
        discussion: """
            STATE is running, draining (it stops, and hands its jobs over), away (its lease has ended, so that the others take \
            its jobs over), or stopped. LEASE is the time until its lease ends, unless it is renewed. The marks are * for the \
            node that has answered, and the word leader for the one that does what one node does for all. A service with an \
            SQLite database is its only node. See docs/many-machines.md.
            """,
        examples: "nodes list", "nodes list --json", aliases: ["ls"]
    ) { _, service, console in
        let response = try await service.send("GET", RequestPath("nodes"))
        let nodes = try response.list("nodes", of: NodeDocument.self)
        if console.isJSON { return try console.print(response.text) }
        try console.print(
            Table(
                nodes, .init("NODE") { "\($0.number)\($0.isSelf ? " *" : "")" }, .init("STATE") { $0.state },
                .init("ROLE") { $0.isLeader ? "leader" : "" },
                .init("RUNNING", isRightAligned: true) { "\($0.running)" },
                .init("SLOTS", isRightAligned: true) { "\($0.slots)" },
                .init("LEASE", isRightAligned: true) {
                    $0.leaseExpiresInSeconds.map { "\(Int($0.rounded(.down))) s" } ?? "-"
                },
                .init("VERSION", isDispensable: true) { $0.version }, .init("URL") { $0.url ?? "-" }))
    }
}

private struct NodeDocument: Decodable, Sendable {
    var number: Int64
    var state: String
    var url: String?
    var version: String
    var leaseExpiresInSeconds: Double?
    var isSelf: Bool
    var isLeader: Bool
    var slots: Int
    var running: Int
}

enum ForgetNode: ActionName {
    struct Operands: ParsableArguments {
        @Argument(help: "The number of the node.") var number: Int64
    }

    static let action = Action<Operands>(
        "forget", "Removes a node that never returns.",
        discussion: """
            For a node whose machine or disk is lost. Its finished files are lost with it: requests for them are answered with \
            410. The service refuses to forget a node that runs, or whose jobs are not taken over yet. If the node comes back, \
            it is a new one, without the files in its folder.
            """,
        examples: "nodes forget 3"
    ) { operands, service, console in
        let number = operands.number
        _ = try await service.send("DELETE", RequestPath("nodes", "\(number)"))
        try console.isJSON
            ? console.print(["forgotten": [.integer(number)]]) : console.print("node \(number) forgotten")
    }
}
