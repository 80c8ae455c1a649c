import Downloads
import Formats
import Storage

/// The methods that read and change options.
extension Aria2Service {
    func getOption(_ parameters: inout RPCParameters) async throws -> JSON {
        let job = try await job(try parameters.gid())
        return DownloadOptionsDocument(spec: job.spec, root: root).document
    }

    func changeOption(_ parameters: inout RPCParameters) async throws -> JSON {
        let gid = try parameters.gid()
        let options = DownloadOptions(try parameters.object())
        log(ignored: options)
        try await patch(gid) { spec throws(RPCError) in try options.change(&spec, in: root) }
        return "OK"
    }

    /// Removes and adds URIs. The result is the number of removed and of added URIs.
    func changeURI(_ parameters: inout RPCParameters) async throws -> JSON {
        let gid = try parameters.gid()
        let (index, removed, added) = (
            try parameters.integer(atLeast: 1), try parameters.strings(), try sources(try parameters.strings())
        )
        let position = try parameters.optionalInteger()
        guard index == 1 else { throw RPCError("fileIndex is out of range") }
        var counts = (0, 0)
        try await patch(gid) { spec throws(RPCError) in
            var urls = [spec.url] + spec.mirrors
            let before = urls.count
            // aria2 removes one entry for each URI of the list.
            for uri in DownloadOptions.distinct(removed) {
                if let found = urls.firstIndex(of: uri) { urls.remove(at: found) }
            }
            let left = urls.count
            let new = added.filter { !urls.contains($0) }
            urls.insert(contentsOf: new, at: min(max(0, position ?? left), left))
            guard let first = urls.first else { throw RPCError("Cannot remove URIs from GID#\(gid)") }
            guard urls.count <= 16 else { throw RPCError("A download has at most 16 URIs.") }
            (spec.url, spec.mirrors) = (first, Array(urls.dropFirst()))
            counts = (before - left, new.count)
            return before == left && new.isEmpty ? [] : [.url]
        }
        return [.count(counts.0), .count(counts.1)]
    }

    /// Applies a change to the present specification of a job, again if another request changes it meanwhile.
    private func patch(
        _ gid: GIDPrefix, _ change: (inout JobSpec) throws(RPCError) -> Set<PatchableField>
    ) async throws {
        while true {
            let job = try await job(gid, isPresent: true)
            var spec = job.spec
            let fields = try change(&spec)
            guard !fields.isEmpty else { return }
            guard job.state.isOutstanding else { throw RPCError("Cannot change option for GID#\(job.aria2GID)") }
            spec.endLoss(supplied: fields)
            if try await engine.patch(job, to: spec, fields: fields, expecting: nil) != nil { return }
        }
    }

    // MARK: The service

    func globalOptions() -> JSON {
        let limits = limits.current()
        return [
            "allow-overwrite": "false", "auto-file-renaming": "true",
            "connect-timeout": .string("\(Int(Timeouts.defaults.connectSeconds ?? 0))"), "continue": "true",
            "dir": .string(root.path), "max-concurrent-downloads": .string("\(limits.maxConcurrentJobs)"),
            "max-connection-per-server": "1", "max-download-limit": "0",
            "max-overall-download-limit": .string("\(limits.rateLimit ?? 0)"), "max-overall-upload-limit": "0",
            "max-tries": .string("\(RetryPolicy().maxAttempts)"),
            "split": "1", "timeout": .string("\(Int(Timeouts.defaults.requestSeconds ?? 0))"),
            "user-agent": .string(SessionConfiguration.defaultUserAgent),
        ]
    }

    func changeGlobalOption(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        let options = GlobalOptions(try parameters.object())
        let change = try options.change()
        if !options.ignoredNames.isEmpty {
            log.info("aria2 RPC: fetchd ignores the options \(options.ignoredNames.joined(separator: ", ")).")
        }
        if change != ServiceLimits.Change() { try await limits.change(change, caller.note) }
        return "OK"
    }
}
