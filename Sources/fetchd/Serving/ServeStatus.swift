/// What `fetchd serve` ends with besides 0, 1 and 64, as sysexits.h has it.
enum ServeStatus: Int32 {
    /// The disk failed, or did not answer in time: something could not be stored (EX_IOERR).
    case unstored = 74
}
