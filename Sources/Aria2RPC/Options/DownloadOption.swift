/// The options of a download that have a meaning here.
enum DownloadOption: String, CaseIterable {
    case allProxy = "all-proxy"
    case allowOverwrite = "allow-overwrite"
    case autoFileRenaming = "auto-file-renaming"
    case checksum
    case connectTimeout = "connect-timeout"
    case dir
    case dryRun = "dry-run"
    case gid
    case header
    case httpPassword = "http-passwd"
    case httpProxy = "http-proxy"
    case httpsProxy = "https-proxy"
    case httpUser = "http-user"
    case maxConnectionPerServer = "max-connection-per-server"
    case maxDownloadLimit = "max-download-limit"
    case maxTries = "max-tries"
    case out
    case pause
    case referer
    case retryWait = "retry-wait"
    case split
    case timeout
    case userAgent = "user-agent"
}
