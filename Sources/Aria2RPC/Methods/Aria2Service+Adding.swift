import Downloads
import Formats
import Storage

/// `aria2.addUri`.
extension Aria2Service {
    func addURI(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        let uris = try parameters.strings()
        let options = DownloadOptions(try parameters.optionalObject() ?? [:])
        let position = try parameters.optionalInteger()
        guard !uris.isEmpty else { throw RPCError("URI is not provided.") }
        if let position, position < 0 { throw RPCError("Position must be greater than or equal to 0.") }
        let sources = try sources(uris)
        guard !sources.isEmpty else { throw RPCError("No URI to download.") }
        let folder = try await configuration().directory
        var new = NewJob(session: session, spec: try options.spec(of: sources, in: root, folder))
        new.isPaused = try options.isPaused
        new.gid = try options.gid ?? .random()
        log(ignored: options)
        let job = try await create(new, at: position, caller)
        return .string(job.aria2GID.description)
    }

    /// Logs the names of options that have no effect, but not their values.
    func log(ignored options: DownloadOptions) {
        let names = options.ignoredNames
        guard !names.isEmpty else { return }
        log.info("aria2 RPC: fetchd ignores the options \(names.joined(separator: ", ")).")
    }

    /// - Throws: aria2's error if a URI has another scheme than HTTP.
    func sources(_ uris: [String]) throws(RPCError) -> [String] {
        let sources = DownloadOptions.distinct(uris)
        guard sources.count <= 16 else { throw RPCError("A download has at most 16 URIs.") }
        for uri in sources {
            if let fault = DownloadOptions.fault(in: uri, allowsRehearsals: options.allowsRehearsals) {
                throw RPCError("No URI to download. A URI \(fault).")
            }
        }
        return sources
    }

    private func create(_ new: NewJob, at position: Int?, _ caller: RPCCaller) async throws -> Job {
        guard let position else { return try await create(new, caller) }
        return try await onPresentQueue { queue in
            var new = new
            new.place = try await place(at: position, of: queue, for: try await priorityOfNewJobs())
            return try await create(new, caller)
        }
    }

    private func priorityOfNewJobs() async throws -> Priority { try await configuration().priority ?? .normal }

    /// The configuration of the session, which may not exist yet.
    func configuration() async throws -> SessionConfiguration {
        try await declaredSession()?.configuration ?? SessionConfiguration()
    }

    func declaredSession() async throws -> Session? {
        do throws(StoreError) {
            return try await store.session(session).session
        } catch {
            guard case .noSuchSession = error else { throw error }
            return nil
        }
    }

    /// The first call declares the session.
    private func create(_ new: NewJob, _ caller: RPCCaller) async throws -> Job {
        do {
            return try await store.createJobs([new], by: caller.creator)[0]
        } catch StoreError.unknownSession {
            _ = try await engine.declareSession(session, configuration: nil)
            return try await store.createJobs([new], by: caller.creator)[0]
        }
    }
}
