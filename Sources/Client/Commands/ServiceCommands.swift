import ArgumentParser
import Formats

enum ShowStats: ActionName {
    static let action = Action<NoOperands>(
        "stats", "Shows the service's statistics: jobs, rates, slots, disk.", examples: "stats", "stats --json"
    ) { _, service, console in
        let response = try await service.send("GET", RequestPath("stats"))
        if console.isJSON { return try console.print(response.text) }
        guard let stats = response.text.parsed, let version = stats.shown("version") else {
            throw ClientError.unknownForm
        }
        var fields = FieldList()
        fields.add("service", "fetchd \(version) at \(service.address)")
        fields.add(stats, members)
        try console.print(fields)
    }

    private static let members: KeyValuePairs<String, Member> = [
        "up for": .number("uptime_seconds", DisplayFormat.duration),
        "jobs": Member { stats in
            let states = JobStateArgument.allCases.map(\.rawValue)
            return states.compactMap { state in stats.shown("jobs.\(state)").map { "\($0) \(state)" } }
                .joined(separator: ", ")
        },
        "slots": .joined("slots.used", Member { $0.shown("slots.max").map { "\($0) taken" } }, separator: " of "),
        "receiving": .joined(
            .number("bytes_per_second", DisplayFormat.rate),
            .number("bytes_received") { "\(DisplayFormat.bytes($0)) since the start" }, separator: "; "),
        "lately": Member(throughput), "sessions": "sessions",
        "deliveries": .number("deliveries_pending") { "\(Int($0)) pending" },
        "finishes": .number("finishes_unacknowledged") { "\(Int($0)) unacknowledged" }, "last event": "last_event",
        "disk": .joined(
            .number("disk.free_bytes") { "\(DisplayFormat.bytes($0)) free" },
            .number("disk.total_bytes", DisplayFormat.bytes), separator: " of "),
    ]

    @Sendable private static func throughput(_ stats: JSON) -> String? {
        let rates = stats.value("throughput.bytes_per_second")?.arrayValue?.compactMap(\.numberValue) ?? []
        guard let highest = rates.max(), let interval = stats.value("throughput.interval_seconds")?.numberValue else {
            return nil
        }
        let average = rates.reduce(0, +) / Double(rates.count)
        return "highest \(DisplayFormat.rate(highest)), average \(DisplayFormat.rate(average)) in the last "
            + "\(DisplayFormat.duration(Double(rates.count) * interval))"
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

// MARK: - Locations

enum ListLocations: ActionName {
    static let action = Action<NoOperands>(
        "locations", "Lists the places where files can go, and the jobs that wait for them.",
        discussion: """
            STATE is ok, or failing: then only the jobs of the location wait. FREE is the free space of its disk, and WAITING the \
            number of jobs that wait for it. PATH is shown to administrators. See docs/destinations.md.
            """,
        examples: "locations", "locations --json"
    ) { _, service, console in
        let response = try await service.send("GET", RequestPath("locations"))
        try console.print(
            response.text, response.list("locations"),
            columns: [
                .init("LOCATION", "name"), .init("STATE", Member { $0["healthy"] == true ? "ok" : "failing" }),
                .init("FREE", .number("free_bytes", DisplayFormat.bytes), or: "-", isRightAligned: true),
                .init("WAITING", "waiting", isRightAligned: true), .init("PATH", "path", or: "-"),
                .init("WHY", "why", or: "-", isDispensable: true),
            ])
    }
}

extension Member {
    /// The first location that one of the members names; nothing for the downloads folder.
    static func location(_ paths: String...) -> Member {
        Member { document in
            let name = paths.lazy.compactMap { document.value($0)?.stringValue }.first
            return name == "default" ? nil : name
        }
    }
}

// MARK: - Hosts

struct HostsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "hosts", "Lists the servers of the downloads, and when they get requests. Lets one get a request now.",
        discussion: "'fetchd hosts' is 'fetchd hosts list'. See docs/polite.md.", examples: "hosts",
        "hosts open files.example.com:443",
        subcommands: [ListHosts.command, OpenHost.command], defaultSubcommand: ListHosts.command)
}

enum ListHosts: ActionName {
    static let action = Action<NoOperands>(
        "list", "Lists the servers of the downloads, those with the most queued jobs first.",
        discussion: """
            STATE is open, pacing (requests start at intervals), closed (none start until the time of UNTIL), or half_open (the \
            response to one request decides). RATE is the requests a second that fetchd has learned, or that the server allows. \
            See docs/polite.md.
            """,
        examples: "hosts list", "hosts list --json", aliases: ["ls"]
    ) { _, service, console in
        let response = try await service.send("GET", RequestPath("hosts"))
        try console.print(
            response.text, response.list("hosts"),
            columns: [
                .init("HOST", "host"), .init("STATE", "state"), .init("UNTIL", "closed_until", or: "-"),
                .init("RATE", Member.number("requests_per_second") { "\(($0 * 100).rounded() / 100)/s" }, or: "-"),
                .init("RUNNING", "running", isRightAligned: true), .init("QUEUED", "queued", isRightAligned: true),
                .init("WHY", "why", or: "-", isDispensable: true),
            ])
    }
}

enum OpenHost: ActionName {
    struct Operands: ParsableArguments {
        @Argument(help: "The server with its port, as 'fetchd hosts' prints it.") var host: String
    }

    static let action = Action<Operands>(
        "open", "Lets the next request to a server start now.",
        discussion:
            "One request is sent, and its response decides whether others follow. It needs an administrator's token.",
        examples: "hosts open files.example.com:443"
    ) { operands, service, console in
        let response = try await service.send("POST", RequestPath("hosts", operands.host, "open"))
        try console.isJSON
            ? console.print(response.text) : console.print("\(Printable(operands.host)) gets a request now")
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
        let seconds = Member.number("lease_expires_in_seconds") { "\(Int($0.rounded(.down))) s" }
        try console.print(
            response.text, response.list("nodes"),
            columns: [
                .init("NODE", .joined("number", Member { $0["is_self"] == true ? "*" : nil }, separator: " ")),
                .init("STATE", "state"), .init("ROLE", Member { $0["is_leader"] == true ? "leader" : nil }),
                .init("RUNNING", "running", isRightAligned: true), .init("SLOTS", "slots", isRightAligned: true),
                .init("LEASE", seconds, or: "-", isRightAligned: true),
                .init("VERSION", "version", isDispensable: true), .init("URL", "url", or: "-"),
            ])
    }
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
