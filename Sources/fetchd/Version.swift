/// The version of fetchd that `--version` and the API report.
enum Version {
    static let text = "0.2.0"
}
