import API
import Aria2RPC
import Configuration
import CurlClient
import Engine
import HTTPServer
import Logging
import Storage
import Webhooks

extension DownloadService {
    /// The folders of the service, and the options of each of its layers. By default the service listens on a free port of
    /// 127.0.0.1.
    public struct Options: Sendable {
        /// The folder of the database.
        public var dataFolder: String
        /// The folder that files are downloaded into.
        public var downloadsFolder: String
        /// Networks that are not public but that downloads may connect to.
        public var allowedNetworks: [Network] = []
        /// Networks that neither downloads nor webhooks may connect to. They take precedence over all other networks.
        public var deniedNetworks: [Network] = []
        /// Networks that are not public but that webhooks of limited reach may connect to.
        public var webhookNetworks: [Network] = []
        /// The hosts and ports that downloads may be requested from.
        public var hosts = HostPolicy()
        /// When other limits apply than those of `engine`.
        public var schedule = Schedule()
        /// What the log keeps. The service passes it to `setLogLevel`, also when it changes.
        public var logLevel = Logger.Level.info
        public var setLogLevel: @Sendable (Logger.Level) -> Void = { _ in }
        /// Where the settings that can change while the service runs come from. A setting without a source has its default.
        public var settingSources: [SettingName: SettingSource] = [:]
        /// The largest number of jobs that the system lets run at once.
        public var mostConcurrentJobs = Int.max
        /// The number of additional connections that the system allows beside this number of running jobs; nil: that of
        /// `engine`.
        public var additionalConnections: (@Sendable (_ jobs: Int) -> Int)?
        /// The largest number of files of other nodes that are passed on to clients at once. Further requests get 503.
        public var maxRelayedFiles = Int.max
        /// Whether the files of finished jobs are removed with the jobs, after `finished_retention`.
        public var deletesFinishedFiles = false
        /// Whether the services that share the database use one downloads folder.
        public var folderSharing = FolderSharing.local
        /// The permissions of finished files, and of folders that are created for them.
        public var fileModes = FileModes()
        /// The number of simultaneous DNS lookups, for the downloads and again for the webhooks.
        public var maxLookups = CurlClient.Options().maxLookups
        /// Whether jobs may have `rehearse:` URLs.
        public var allowsRehearsals = false
        /// aria2's interface at `/jsonrpc`; nil: it is off.
        public var aria2: Aria2Service.Options?
        /// Seconds after which the log and the metrics report an unacknowledged finish.
        public var acknowledgementPatience = 3600.0
        /// Why the service may run only if an administrator has a token, as a sentence; nil: callers from this machine
        /// need no token until an administrator has one.
        public var tokenDemand: String?
        /// The version that the statistics and the log report.
        public var version = ""

        public var store = Store.Options()
        public var engine = Engine.Options()
        public var webhooks = Dispatcher.Options()
        public var feed = Feed.Options()
        public var api = APIHandler.Options()
        public var server = HTTPServer.Options()
        /// The clock of the whole service, except for network timeouts and the heartbeats of streams: these use the clock of
        /// the machine.
        public var time: any TimeSource = SystemTime()

        public init(dataFolder: String, downloadsFolder: String) {
            self.dataFolder = dataFolder
            self.downloadsFolder = downloadsFolder
            server.maxBodyBytes = 32 << 20
        }
    }
}
