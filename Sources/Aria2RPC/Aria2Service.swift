import Downloads
import Engine
import Formats
import Logging
import Operations
import Storage

/// aria2's JSON-RPC over the jobs of one session. Every method is carried out by the same calls of store and engine as the
/// requests of the REST API, so that both interfaces see the same jobs.
public struct Aria2Service: Sendable {
    public struct Options: Sendable {
        public var session = Name(trusted: "aria2")
        /// Whether jobs may have `rehearse:` URLs.
        public var allowsRehearsals = false
        public var version = ""

        public init() {}
    }

    public typealias Authorization = @Sendable (_ secret: String?) throws(RPCError) -> RPCCaller

    let options: Options
    let jobs: Jobs
    let sessions: Sessions
    let limits: ServiceLimits
    let log: Logger
    let root: DownloadsRoot
    public let notifier: RPCNotifier
    /// 40 hexadecimal digits, other ones after each start.
    let sessionID: String

    public init(options: Options, store: Store, engine: Engine, limits: ServiceLimits, log: Logger) {
        self.options = options
        self.limits = limits
        self.log = log
        jobs = Jobs(store: store, engine: engine)
        sessions = Sessions(store: store, engine: engine)
        root = DownloadsRoot(paths: engine.locationPaths)
        notifier = RPCNotifier(session: options.session, store: store)
        sessionID = "\(GID.random())\(GID.random())" + "\(GID.random())".prefix(8)
    }

    public var session: Name { options.session }

    public func maySee(_ caller: RPCCaller) -> Bool { caller.grant.sessions.contain(session) }

    func perform(unrestricted method: RPCMethod) -> JSON {
        method == .listNotifications
            ? .strings(RPCNotification.names) : .strings(RPCMethod.allCases.map(\.name))
    }

    /// - Returns: the result; nil if the method has written it itself, because it may be long.
    func perform(
        _ method: RPCMethod, _ parameters: inout RPCParameters, _ caller: RPCCaller, to text: inout AnswerText
    ) async throws -> JSON? {
        switch method {
        case .addUri: try await addURI(&parameters, caller)
        case .addTorrent: throw RPCError("fetchd was built without BitTorrent.")
        case .addMetalink: try await addMetalink(&parameters, caller)
        case .remove, .forceRemove:
            try await perform(.cancelRequested(keepsPart: false), &parameters, if: \.isOutstanding) {
                "Active Download not found for GID#\($0)"
            }
        case .pause, .forcePause:
            try await perform(.pauseRequested, &parameters, if: { $0.isOutstanding && $0 != .paused }) {
                "GID#\($0) cannot be paused now"
            }
        case .pauseAll, .forcePauseAll: try await performOnAll(.pauseRequested)
        case .unpause:
            try await perform(.resumeRequested, &parameters, if: { $0 == .paused }) {
                "GID#\($0) cannot be unpaused now"
            }
        case .unpauseAll: try await unpauseAll()
        case .changePosition: try await changePosition(&parameters)
        case .tellStatus: try await tellStatus(&parameters, caller)
        case .getUris: try await getURIs(&parameters, caller)
        case .getFiles: try await getFiles(&parameters, caller)
        case .getServers: try await getServers(&parameters, caller)
        case .getPeers: try await getPeers(&parameters)
        case .tellActive: try await tellActive(&parameters, caller, to: &text)
        case .tellWaiting: try await tellWaiting(&parameters, caller, to: &text)
        case .tellStopped: try await tellStopped(&parameters, caller, to: &text)
        case .getOption: try await getOption(&parameters)
        case .changeUri: try await changeURI(&parameters)
        case .changeOption: try await changeOption(&parameters, caller)
        case .getGlobalOption: try await globalOptions()
        case .changeGlobalOption: try await changeGlobalOption(&parameters, caller)
        case .purgeDownloadResult: try await purgeResults()
        case .removeDownloadResult: try await removeResult(&parameters)
        case .getVersion: version
        case .getSessionInfo: ["sessionId": .string(sessionID)]
        case .shutdown, .forceShutdown:
            throw RPCError("fetchd is not stopped over this interface. Stop the service with its service manager.")
        case .getGlobalStat: try await globalStatistics()
        // Everything is stored before it is acknowledged.
        case .saveSession: "OK"
        case .multicall, .listMethods, .listNotifications: perform(unrestricted: method)
        }
    }

    /// - Parameter isPresent: whether the job is read from the database, because the call depends on its present state.
    /// - Throws: aria2's error if no job has this identifier, or if several begin with it.
    func job(_ gid: GIDPrefix, isPresent: Bool = false) async throws -> Job {
        let ids = try await jobs.jobs(withGID: gid, in: session)
        guard let id = ids.first else { throw RPCError("GID \(gid) is not found") }
        guard ids.count == 1 else { throw RPCError("GID \(gid) is not unique") }
        do {
            return try await isPresent ? jobs.storedJob(id) : jobs.job(id)
        } catch StoreError.noSuchJob {
            throw RPCError("GID \(gid) is not found")
        }
    }

    func jobs(_ ids: some Sequence<JobID>) async throws -> [Job] {
        var found: [Job] = []
        try await forEachPresent(of: ids) { found.append(try await jobs.job($0)) }
        return found
    }
}

/// The methods of aria2 1.37, in the order of its `system.listMethods`.
enum RPCMethod: String, Sendable, CaseIterable {
    case addUri, addTorrent, getPeers, addMetalink, remove, pause, forcePause, pauseAll, forcePauseAll, unpause
    case unpauseAll, forceRemove, changePosition, tellStatus, getUris, getFiles, getServers, tellActive, tellWaiting
    case tellStopped, getOption, changeUri, changeOption, getGlobalOption, changeGlobalOption, purgeDownloadResult
    case removeDownloadResult, getVersion, getSessionInfo, shutdown, forceShutdown, getGlobalStat, saveSession
    case multicall, listMethods, listNotifications

    init?(name: String) {
        let word = name.drop { $0 != "." }.dropFirst()
        guard let method = Self(rawValue: String(word)), method.name == name else { return nil }
        self = method
    }

    /// Such as `aria2.addUri` and `system.multicall`.
    var name: String { (scope == nil ? "system." : "aria2.") + rawValue }

    /// The scope that a caller needs; nil: none, because the method says nothing about this service.
    var scope: Scope? {
        switch self {
        case .multicall, .listMethods, .listNotifications: nil
        case .getPeers, .tellStatus, .getUris, .getFiles, .getServers, .tellActive, .tellWaiting, .tellStopped,
            .getOption, .getGlobalOption, .getVersion, .getSessionInfo, .getGlobalStat, .saveSession:
            .read
        case .addUri, .addTorrent, .addMetalink, .remove, .forceRemove, .pause, .forcePause, .pauseAll, .forcePauseAll,
            .unpause, .unpauseAll, .changePosition, .changeUri, .changeOption, .purgeDownloadResult,
            .removeDownloadResult:
            .jobs
        case .changeGlobalOption, .shutdown, .forceShutdown: .admin
        }
    }
}
