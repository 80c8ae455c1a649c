import Configuration
import Engine
import Formats
import Storage

extension Settings.Key {
    /// The value without any source; null if it depends on the system, or if there is none.
    var defaultValue: JSON {
        typealias Defaults = Settings.Defaults
        return switch self {
        case .listen: .string(Defaults.listen)
        case .unixSocketMode: .string(Defaults.unixSocketMode)
        case .webhookRetryDelays: .strings(Defaults.webhookRetryDelays.split(separator: ",").map(String.init))
        case .acknowledgementPatience: .number(Defaults.acknowledgementPatience)
        case .minimumSpeedSeconds: .number(Defaults.minimumSpeedSeconds)
        case .streamHeartbeat: .number(Defaults.streamHeartbeat)
        case .stopTimeout: .number(Defaults.stopTimeout)
        case .stopDelay: .number(Defaults.stopDelay)
        case .finishedRetentionFiles: .string(FinishedFiles.keep.rawValue)
        case .downloads: .string(FolderSharing.local.rawValue)
        case .publicHost, .trustedProxy, .allowOrigin: []
        case .enableRehearsals, .acceptLostSecrets, .allowCoreDumps, .requestLog, .traceOrigins, .aria2RPC: false
        case .logFormat: .string(ObservationSettings.Defaults.logFormat.rawValue)
        case .aria2Session: .string(Defaults.aria2Session)
        case .unixSocket, .maxConnections, .maxConnectionsPerAddress, .dataDir, .downloadsDir, .store, .nodeURL,
            .fileMode, .directoryMode, .keyFile, .keyCommand, .token:
            nil
        case .rateLimit, .maxConcurrentJobs, .maxConnectionsPerHost, .schedule, .allowNetwork, .denyNetwork,
            .allowWebhookNetwork, .allowOriginHost, .denyOriginHost, .allowOriginPort, .minimumFreeBytes, .maxFileSize,
            .resumeDataMaxBytes, .maxParts, .eventRetention, .unacknowledgedRetention, .finishedRetention, .logLevel:
            running.map { RunningSettings()[$0] } ?? .null
        }
    }

    /// The value as it may be shown.
    func shown(_ value: JSON) -> JSON {
        guard let text = value.stringValue else { return value }
        if self == .token { return "(not shown)" }
        if self == .store { return .string((try? ServerAddress(text).shown) ?? "(not shown)") }
        return self == .keyCommand ? .string(Self.withoutArguments(text)) : value
    }

    /// Arguments of a command may be secrets.
    private static func withoutArguments(_ command: String) -> String {
        let words = command.split(separator: " ")
        return words.count > 1 ? "\(words[0]) (arguments not shown)" : command
    }
}
