import Downloads
import Engine
import Formats
import Logging
import Storage

/// aria2's JSON-RPC over the jobs of one session. Every method is carried out by the same calls of store and engine as the
/// requests of the REST API, so that both interfaces see the same jobs.
public struct Aria2Service: Sendable {
    public struct Options: Sendable {
        /// The session of the jobs. The first `aria2.addUri` declares it.
        public var session = Name(trusted: "aria2")
        /// The downloads folder, as an absolute path without a slash at its end.
        public var downloadsFolder = "/"
        /// Whether jobs may have `rehearse:` URLs.
        public var allowsRehearsals = false
        /// The version that `aria2.getVersion` reports.
        public var version = ""

        public init() {}
    }

    /// Finds the caller of a call by its secret; nil: the call has none.
    public typealias Authorization = @Sendable (_ secret: String?) throws(RPCError) -> RPCCaller

    let options: Options
    let store: Store
    let engine: Engine
    let limits: ServiceLimits
    let log: Logger
    let root: DownloadsRoot
    public let notifier: RPCNotifier
    /// 40 hexadecimal digits, other ones after each start.
    let sessionID: String

    public init(options: Options, store: Store, engine: Engine, limits: ServiceLimits, log: Logger) {
        (self.options, self.store, self.engine, self.limits, self.log) = (options, store, engine, limits, log)
        root = DownloadsRoot(path: options.downloadsFolder)
        notifier = RPCNotifier(session: options.session, store: store)
        sessionID = "\(GID.random())\(GID.random())" + "\(GID.random())".prefix(8)
    }

    public var session: Name { options.session }

    /// Whether the caller may know what happens to the downloads.
    public func maySee(_ caller: RPCCaller) -> Bool { caller.grant.sessions.contain(session) }

    func perform(unrestricted method: RPCMethod) -> JSON {
        method == .listNotifications
            ? .strings(RPCNotification.names) : .strings(RPCMethod.allCases.map(\.rawValue))
    }

    /// - Returns: the result; nil if the method has written it itself, because it may be long.
    func perform(
        _ method: RPCMethod, _ parameters: inout RPCParameters, _ caller: RPCCaller, to text: inout AnswerText
    ) async throws -> JSON? {
        switch method {
        case .addUri: try await addURI(&parameters, caller)
        case .addTorrent: throw RPCError("fetchd was built without BitTorrent.")
        case .addMetalink: throw RPCError("fetchd was built without Metalink.")
        case .remove, .forceRemove: try await remove(&parameters)
        case .pause, .forcePause: try await pause(&parameters)
        case .pauseAll, .forcePauseAll: try await performOnAll(.pauseRequested)
        case .unpause: try await unpause(&parameters)
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
        case .changeOption: try await changeOption(&parameters)
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
}
