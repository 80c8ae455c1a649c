import Downloads
import Formats

/// What subscribers of a WebSocket learn about a download.
enum RPCNotification {
    /// The notifications of `system.listNotifications`.
    static let names = ["Start", "Pause", "Stop", "Complete", "Error"].map { "aria2.onDownload\($0)" }

    /// nil for events that aria2 does not have.
    static func name(of type: EventType) -> String? {
        switch type {
        case .jobStarted: "aria2.onDownloadStart"
        case .jobPaused: "aria2.onDownloadPause"
        case .jobCancelled: "aria2.onDownloadStop"
        case .jobSucceeded: "aria2.onDownloadComplete"
        case .jobFailed: "aria2.onDownloadError"
        case .jobCreated, .jobMoved, .jobResumed, .jobRestarted, .jobWaiting, .jobDeleted, .sessionWaiting,
            .sessionFinished, .webhookDisabled, .webhookTest:
            nil
        }
    }

    static func text(_ name: String, _ gid: GID) -> [UInt8] {
        JSON.object(["jsonrpc": "2.0", "method": .string(name), "params": [["gid": .string(gid.description)]]]).bytes
    }
}
