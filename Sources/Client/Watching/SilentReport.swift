/// Nothing but trouble is told beside JSON: the documents themselves are printed by the watcher, which has them whole.
struct SilentReport: WatchReport {
    func told(_ change: JobBoard.Change?) {}
    func remarked(_ sentence: String) {}
    func ended() {}
}
