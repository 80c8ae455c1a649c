import Downloads
import Formats
import Operations
import Storage

/// The methods that read and change options.
extension Aria2Service {
    func getOption(_ parameters: inout RPCParameters) async throws -> JSON {
        let job = try await job(try parameters.gid())
        return DownloadOptionsDocument(spec: job.spec, defaults: try await configuration(), root: root).document
    }

    func changeOption(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        let gid = try parameters.gid()
        let options = DownloadOptions(try parameters.object())
        let configuration = try await configuration()
        try options.requireUnchanged(try await job(gid, isPresent: true), configuration, root)
        log(ignored: options)
        try await patch(gid) { spec throws(RPCError) in
            let present = spec.destination.location
            let fields = try options.change(&spec, in: root, configuration.directory)
            if spec.destination.location != present {
                try caller.requireLocation(of: spec.destination, configuration)
            }
            return fields
        }
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
        do {
            _ = try await jobs.patch(try await job(gid, isPresent: true)) { job in
                var spec = job.spec
                let fields = try change(&spec)
                guard !fields.isEmpty else { return nil }
                guard job.state.isOutstanding else { throw RPCError("Cannot change option for GID#\(job.aria2GID)") }
                spec.endLoss(supplied: fields)
                return (spec, fields)
            }
        } catch StoreError.noSuchJob {
            throw RPCError("GID \(gid) is not found")
        }
    }

    // MARK: The service

    func globalOptions() async throws -> JSON {
        let (limits, defaults) = (limits.current(), try await configuration())
        let downloads = DownloadOptionsDocument(spec: JobSpec(url: ""), defaults: defaults, root: root).document
        var options = downloads.objectValue ?? [:]
        options["continue"] = "true"
        options["max-concurrent-downloads"] = .string("\(limits.maxConcurrentJobs)")
        options["max-overall-download-limit"] = .string("\(limits.rateLimit ?? 0)")
        options["max-overall-upload-limit"] = "0"
        options["user-agent"] = .string(defaults.userAgent ?? SessionConfiguration.defaultUserAgent)
        if let proxy = defaults.proxy { options["all-proxy"] = .string(proxy.url) }
        return .object(options)
    }

    func changeGlobalOption(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        let options = DownloadOptions(try parameters.object(), isGlobal: true)
        let change = try options.serviceLimits
        try await changeSession(options, caller)
        log(ignored: options)
        if change != ServiceLimits.Change() { try await limits.change(change, caller.note) }
        return "OK"
    }

    private func changeSession(_ downloads: DownloadOptions, _ caller: RPCCaller) async throws {
        let present = try await declaredSession()?.configuration
        func changed(_ configuration: SessionConfiguration) throws(RPCError) -> SessionConfiguration {
            var configuration = configuration
            let present = configuration.location
            try downloads.change(&configuration, in: root)
            if configuration.location != present { try caller.requireLocation(of: Destination(), configuration) }
            return configuration
        }
        guard try changed(present ?? SessionConfiguration()) != present ?? SessionConfiguration() else { return }
        if present == nil { _ = try await sessions.declare(session, configuration: nil) }
        _ = try await sessions.change(session, audit: caller.note, changed)
    }
}

extension DownloadOptions {
    /// Refuses new values of options that a download has from its beginning. A client may send all options that it has read.
    fileprivate func requireUnchanged(
        _ job: Job, _ defaults: SessionConfiguration, _ root: DownloadsRoot
    ) throws(RPCError) {
        let document = DownloadOptionsDocument(spec: job.spec, defaults: defaults, root: root).document
        var changed: [DownloadOption] = [.connectTimeout, .maxTries, .retryWait, .timeout].filter { option in
            text(option).map { $0 != document.objectValue?[option.rawValue]?.stringValue } ?? false
        }
        if let checksum = try checksum, checksum != job.spec.checksum?.value { changed.append(.checksum) }
        if let gid = try gid, gid != job.aria2GID { changed.append(.gid) }
        guard let first = changed.first else { return }
        throw problem(first, "A download has it from its beginning: add the download again.")
    }
}

/// The options of a download as `aria2.getOption` shows them: those that fetchd has, with the values that hold. A client
/// that adds the download again with them gets an equal one, except for secrets, which are never shown. That is how clients
/// retry a download that has failed, so the gid is no option here: the new download must get another.
struct DownloadOptionsDocument {
    let spec: JobSpec
    /// What holds for downloads without a value of their own.
    var defaults = SessionConfiguration()
    let root: DownloadsRoot

    var document: JSON {
        let connections = "\(spec.connections ?? defaults.connections ?? 1)"
        let conflict = spec.destination.onConflict ?? defaults.onConflict ?? .rename
        let retry = spec.retry ?? defaults.retry ?? RetryPolicy()
        let timeouts = (spec: spec.timeouts, session: defaults.timeouts)
        var options: JSONObject = [
            "allow-overwrite": flag(conflict == .replace), "auto-file-renaming": flag(conflict != .error),
            "connect-timeout": seconds(
                timeouts.spec.connectSeconds ?? timeouts.session.connectSeconds ?? Timeouts.defaults.connectSeconds),
            "dir": .string(
                root.absolute(
                    spec.destination.directory ?? defaults.directory,
                    in: spec.destination.location ?? defaults.location)),
            "max-connection-per-server": .string(connections), "max-download-limit": .string("\(spec.rateLimit ?? 0)"),
            "max-tries": .string("\(retry.maxAttempts)"), "retry-wait": seconds(retry.baseSeconds),
            "split": .string(connections),
            "timeout": seconds(
                timeouts.spec.requestSeconds ?? timeouts.session.requestSeconds ?? Timeouts.defaults.requestSeconds),
        ]
        // A name with placeholders belongs to a job that another interface has added.
        if let name = spec.destination.filename, DownloadOptions.braces(in: name) == nil {
            options["out"] = .string(name)
        }
        if let checksum = spec.checksum?.value {
            options["checksum"] = .string("\(checksum.algorithm.rawValue)=\(checksum.value)")
        }
        for name in ["user-agent", "referer"] {
            if let field = spec.headers.first(where: { $0.name.lowercased() == name }) {
                options[name] = .string(field.value)
            }
        }
        let headers = spec.headers.filter { !$0.isSecret && !DownloadOptions.hasOwnOption($0) }
        if !headers.isEmpty {
            options["header"] = .string(headers.map { "\($0.name): \($0.value)\n" }.joined())
        }
        return .object(options)
    }

    private func flag(_ value: Bool) -> JSON { value ? "true" : "false" }

    /// At most the largest value that the options take.
    private func seconds(_ value: Double?) -> JSON {
        .string("\(Int(min(value ?? 0, Double(DownloadOptions.mostSeconds)).rounded(.up)))")
    }
}
