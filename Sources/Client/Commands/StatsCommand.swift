import ArgumentParser

struct StatsCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Shows the service's statistics: jobs, rates, slots, disk.",
        discussion: """
            EXAMPLES:
              fetchd stats
              fetchd stats --json
            """)

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let answer = try await service.stats()
        let stats = try answer.document(StatsDocument.self)
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        var sheet = Sheet()
        sheet.add("service", "fetchd \(stats.version) at \(service.address)")
        sheet.add("up for", DisplayFormat.duration(stats.uptimeSeconds))
        let states = JobStateArgument.allCases.map(\.rawValue)
        sheet.add(
            "jobs", states.compactMap { state in stats.jobs[state].map { "\($0) \(state)" } }.joined(separator: ", "))
        sheet.add("slots", "\(stats.slots.used) of \(stats.slots.max) taken")
        sheet.add(
            "receiving",
            "\(DisplayFormat.rate(stats.bytesPerSecond)); \(DisplayFormat.bytes(stats.bytesReceived)) since the start")
        sheet.add("lately", Self.throughput(stats.throughput))
        sheet.add("sessions", "\(stats.sessions)")
        sheet.add("deliveries", "\(stats.deliveriesPending) pending")
        sheet.add("finishes", "\(stats.finishesUnacknowledged) unacknowledged")
        sheet.add("last event", "\(stats.lastEvent)")
        sheet.add(
            "disk",
            stats.disk.map { "\(DisplayFormat.bytes($0.freeBytes)) free of \(DisplayFormat.bytes($0.totalBytes))" })
        try console.out.write(sheet.text(on: console.outTerminal))
    }

    private static func throughput(_ throughput: StatsDocument.Throughput) -> String? {
        let rates = throughput.bytesPerSecond
        guard let highest = rates.max() else { return nil }
        let (average, seconds) = (rates.reduce(0, +) / Double(rates.count), rates.count * throughput.intervalSeconds)
        return "highest \(DisplayFormat.rate(highest)), average \(DisplayFormat.rate(average)) in the last "
            + "\(DisplayFormat.duration(Double(seconds)))"
    }
}
