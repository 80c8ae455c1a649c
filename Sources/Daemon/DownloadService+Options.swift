import API
import CurlClient
import Engine
import HTTPServer
import Storage
import Webhooks

extension DownloadService {
    /// Where the service keeps its files, and how each of its layers works. The defaults listen on a free port of 127.0.0.1.
    public struct Options: Sendable {
        /// The folder of the database.
        public var dataFolder: String
        /// The folder that files are downloaded into.
        public var downloadsFolder: String
        /// Bytes that downloads leave free on the file system of the downloads folder; nil: see `DownloadsFolder`.
        public var minimumFreeBytes: Int64?
        /// Networks that downloads may reach although they are not public.
        public var allowedNetworks: [Network] = []
        /// Host names that the downloads, and the webhooks, may look up at once.
        public var maxLookups = CurlClient.Options().maxLookups
        /// Whether jobs may have `rehearse:` URLs.
        public var allowsRehearsals = false
        /// Seconds that a finish may stay unacknowledged before the log and the metrics say so.
        public var acknowledgementPatience = 3600.0
        /// The version that the statistics and the log name.
        public var version = ""

        public var store = Store.Options()
        public var engine = Engine.Options()
        public var webhooks = Dispatcher.Options()
        public var feed = Feed.Options()
        public var api = APIHandler.Options()
        public var server = HTTPServer.Options()
        /// The clock of the whole service. Network timeouts and heartbeats of streams go by the machine's.
        public var time: any TimeSource = SystemTime()

        public init(dataFolder: String, downloadsFolder: String) {
            self.dataFolder = dataFolder
            self.downloadsFolder = downloadsFolder
            server.maxBodyBytes = 32 << 20
        }
    }
}
