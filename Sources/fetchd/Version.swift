/// The version of fetchd, as `--version` and the API give it.
enum Version {
    static let text = "0.1.0"
}
