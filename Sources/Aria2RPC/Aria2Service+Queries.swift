import Downloads
import Formats
import Operations
import Storage

/// The methods that read downloads.
extension Aria2Service {
    func tellStatus(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        let gid = try parameters.gid()
        let keys = try parameters.keys()
        return try await shown(try await job(gid), to: caller).document(keys)
    }

    func tellActive(
        _ parameters: inout RPCParameters, _ caller: RPCCaller, to text: inout AnswerText
    ) async throws -> JSON? {
        let list = DownloadList(
            keys: try parameters.keys(), caller: caller, defaults: try await configuration(), isMember: { _ in true })
        var isFirst = true
        text.append("[")
        try await write(try await jobs.running(of: session), of: list, isFirst: &isFirst, to: &text)
        text.append("]")
        return nil
    }

    func tellWaiting(
        _ parameters: inout RPCParameters, _ caller: RPCCaller, to text: inout AnswerText
    ) async throws -> JSON? {
        // A job may have started since its identifier was read.
        try await tell(&parameters, caller, \.isInQueue, to: &text) {
            try await jobs.queue(of: session, from: $0, count: $1)
        }
    }

    func tellStopped(
        _ parameters: inout RPCParameters, _ caller: RPCCaller, to text: inout AnswerText
    ) async throws -> JSON? {
        try await tell(&parameters, caller, \.isTerminal, to: &text) {
            try await jobs.ended(of: session, from: $0, count: $1)
        }
    }

    /// Writes a list of downloads in slices, so that neither all its jobs nor all their documents are in memory.
    ///
    /// - Parameter read: reads identifiers from an offset on: from the beginning; a negative one from the end, in the reverse
    ///   order, as in aria2.
    private func tell(
        _ parameters: inout RPCParameters, _ caller: RPCCaller, _ isMember: @escaping (JobState) -> Bool,
        to text: inout AnswerText, _ read: (_ offset: Int, _ count: Int) async throws -> [JobID]
    ) async throws -> JSON? {
        var (offset, left) = (try parameters.integer(), try parameters.integer(atLeast: 0))
        let list = DownloadList(
            keys: try parameters.keys(), caller: caller, defaults: try await configuration(), isMember: isMember)
        var isFirst = true
        text.append("[")
        while left > 0 {
            let wanted = min(left, Self.mostIdentifiers)
            let ids = try await read(offset, wanted)
            try await write(ids, of: list, isFirst: &isFirst, to: &text)
            guard ids.count == wanted else { break }
            left -= wanted
            offset += offset < 0 ? -wanted : wanted
        }
        text.append("]")
        return nil
    }

    private func write(
        _ ids: [JobID], of list: DownloadList, isFirst: inout Bool, to text: inout AnswerText
    ) async throws {
        for start in stride(from: 0, to: ids.count, by: Self.jobsOfSlice) {
            for job in try await jobs(ids[start..<min(start + Self.jobsOfSlice, ids.count)])
            where list.isMember(job.state) {
                if !isFirst { text.append(",") }
                isFirst = false
                try text.write(read: shown(job, to: list.caller, list.defaults).document(list.keys))
            }
            try await pause()
        }
    }

    /// The largest number of identifiers in memory.
    private static let mostIdentifiers = 20_000
    private static let jobsOfSlice = 25

    func getURIs(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        try await shown(try await job(try parameters.gid()), to: caller).uris
    }

    func getFiles(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        try await shown(try await job(try parameters.gid()), to: caller).files
    }

    func getServers(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        let job = try await job(try parameters.gid())
        guard job.state.name == .running else { throw RPCError("No active download for GID#\(job.aria2GID)") }
        return try await shown(job, to: caller).servers
    }

    /// There are none without BitTorrent.
    func getPeers(_ parameters: inout RPCParameters) async throws -> JSON {
        _ = try await job(try parameters.gid())
        return []
    }

    func globalStatistics() async throws -> JSON {
        let counts = try await declaredStatus()?.counts ?? [:]
        func count(_ states: JobState.Kind...) -> JSON { .string("\(states.reduce(0) { $0 + (counts[$1] ?? 0) })") }
        let rates = jobs.progressOfRunning().filter { $0.session == session }.compactMap(\.live.bytesPerSecond)
        let stopped = count(.succeeded, .failed, .cancelled)
        return [
            "downloadSpeed": .string("\(rates.reduce(0, +))"), "numActive": count(.running), "numStopped": stopped,
            "numStoppedTotal": stopped, "numWaiting": count(.queued, .waiting, .paused), "uploadSpeed": "0",
        ]
    }

    /// `version` is that of the interface, because clients decide by it what they may ask.
    var version: JSON {
        [
            "enabledFeatures": ["Async DNS", "HTTPS", "Message Digest", "Metalink"], "version": "1.37.0",
            "server": .string("fetchd \(options.version)"),
        ]
    }

    private func shown(_ job: Job, to caller: RPCCaller) async throws -> DownloadStatus {
        shown(job, to: caller, try await configuration())
    }

    private func shown(_ job: Job, to caller: RPCCaller, _ defaults: SessionConfiguration) -> DownloadStatus {
        DownloadStatus(
            job: job, live: jobs.progress(of: job), defaults: defaults,
            root: root, showsWholeURLs: caller.seesWholeURLs)
    }
}

/// What a list of downloads shows.
private struct DownloadList {
    /// The members of each document; nil: all.
    let keys: Set<String>?
    let caller: RPCCaller
    /// What holds for downloads without a value of their own.
    let defaults: SessionConfiguration
    let isMember: (JobState) -> Bool
}
