import Downloads
import Formats
import Storage

/// The methods that read downloads.
extension Aria2Service {
    func tellStatus(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        let gid = try parameters.gid()
        let keys = try parameters.keys()
        return status(of: try await job(gid), keys, caller)
    }

    func tellActive(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        let keys = try parameters.keys()
        return statuses(of: try await jobs(try await store.runningJobs(of: session)), keys, caller)
    }

    func tellWaiting(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        let (offset, count) = (try parameters.integer(), try parameters.integer(atLeast: 0))
        let keys = try parameters.keys()
        let page = try await store.queue(of: session).page(offset: offset, count: count)
        // A job may have started since.
        return statuses(of: try await jobs(page).filter(\.state.isInQueue), keys, caller)
    }

    func tellStopped(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        let (offset, count) = (try parameters.integer(), try parameters.integer(atLeast: 0))
        let keys = try parameters.keys()
        let page = try await store.endedJobs(of: session).page(offset: offset, count: count)
        return statuses(of: try await jobs(page).filter(\.state.isTerminal), keys, caller)
    }

    func getURIs(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        shown(try await job(try parameters.gid()), to: caller).uris
    }

    func getFiles(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        shown(try await job(try parameters.gid()), to: caller).files
    }

    func getServers(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        let job = try await job(try parameters.gid())
        guard job.state.name == .running else {
            throw RPCError("No active download for GID#\(job.aria2GID)")
        }
        return shown(job, to: caller).servers
    }

    /// There are none without BitTorrent.
    func getPeers(_ parameters: inout RPCParameters) async throws -> JSON {
        _ = try await job(try parameters.gid())
        return []
    }

    func globalStatistics() async throws -> JSON {
        let counts: [JobState.Name: Int]
        do throws(StoreError) {
            counts = try await store.session(session).counts
        } catch {
            guard case .noSuchSession = error else { throw error }
            counts = [:]
        }
        func count(_ states: JobState.Name...) -> JSON { .string("\(states.reduce(0) { $0 + (counts[$1] ?? 0) })") }
        let rates = engine.progressOfRunning().filter { $0.session == session }.compactMap(\.live.bytesPerSecond)
        let stopped = count(.succeeded, .failed, .cancelled)
        return [
            "downloadSpeed": .string("\(rates.reduce(0, +))"), "numActive": count(.running), "numStopped": stopped,
            "numStoppedTotal": stopped, "numWaiting": count(.queued, .waiting, .paused), "uploadSpeed": "0",
        ]
    }

    /// `version` is that of the interface, because clients decide by it what they may ask.
    var version: JSON {
        [
            "enabledFeatures": ["Async DNS", "HTTPS", "Message Digest"], "version": "1.37.0",
            "server": .string("fetchd \(options.version)"),
        ]
    }

    private func statuses(of jobs: [Job], _ keys: Set<String>?, _ caller: RPCCaller) -> JSON {
        .array(jobs.map { status(of: $0, keys, caller) })
    }

    private func status(of job: Job, _ keys: Set<String>?, _ caller: RPCCaller) -> JSON {
        shown(job, to: caller).document(keys)
    }

    private func shown(_ job: Job, to caller: RPCCaller) -> DownloadStatus {
        DownloadStatus(
            job: job, live: job.state.name == .running ? engine.progress(of: job.id) : nil, root: root,
            showsWholeURLs: caller.seesWholeURLs)
    }
}
