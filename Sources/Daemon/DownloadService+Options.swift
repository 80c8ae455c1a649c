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
        /// The settings, and where they come from. The layers' options have what does not depend on settings alone.
        public var start = StartSettings()
        /// Called with what the log keeps, at the start and when it changes.
        public var setLogLevel: @Sendable (Logger.Level) -> Void = { _ in }
        /// The number of additional connections that the system allows beside this number of running jobs; nil: that of
        /// `engine`.
        public var additionalConnections: (@Sendable (_ jobs: Int) -> Int)?
        /// The largest number of files of other nodes that are passed on to clients at once. Further requests get 503.
        public var maxRelayedFiles = Int.max
        /// The number of simultaneous DNS lookups, for the downloads and again for the webhooks.
        public var maxLookups = CurlClient.Options().maxLookups
        /// aria2's interface at `/jsonrpc`; nil: it is off.
        public var aria2: Aria2Service.Options?
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

// MARK: - Limits

extension DownloadService.Options {
    var isNode: Bool { store.server != nil }

    var folderSharing: FolderSharing { start.values.sharesDownloads ? .shared : .local }

    func limits(_ settings: EffectiveSettings) -> Engine.Limits {
        let jobs = settings.maxConcurrentJobs
        return Engine.Limits(
            jobs: jobs, jobsOfAllNodes: settings.maxConcurrentJobsOfAllNodes,
            connectionsPerHost: settings.settings.maxConnectionsPerHost,
            additionalConnections: additionalConnections?(jobs) ?? engine.maxAdditionalConnections,
            rate: settings.rateLimit, storage: storageLimits(settings.settings))
    }

    private func storageLimits(_ settings: Settings) -> Engine.StorageLimits {
        var limits = Engine.StorageLimits()
        limits.minimumFreeBytes = settings.minimumFreeBytes
        limits.maxFileSize = settings.maxFileSize
        limits.maxResumeDataBytes = settings.resumeDataMaxBytes
        limits.maxParts = settings.maxParts
        limits.retention = Retention(
            acknowledged: settings.eventRetention, unacknowledged: settings.unacknowledgedRetention)
        limits.finishedRetention = settings.finishedRetention.map {
            // Only a restart changes what happens to the files.
            FinishedRetention(
                acknowledged: $0, unacknowledged: limits.retention.unacknowledged,
                deletesFiles: start.values.deletesFinishedFiles)
        }
        return limits
    }
}
