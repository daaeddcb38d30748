//! Faults of the format.

use super::super::write::{model, Builder};
use super::super::{Array, Gguf, TensorType, Value};
use super::{parse, parse_built, refusal};
use crate::untrusted::FileError;

/// A file with one value and two tensors.
fn file() -> Builder {
    let mut file = Builder::new();
    file.u32("one", 1);
    file.tensor("a", TensorType::F32, &[8, 2]);
    file.tensor("b", TensorType::Q8_0, &[64]);
    file
}

fn changed(change: impl FnOnce(&mut Builder)) -> String {
    let mut file = file();
    change(&mut file);
    refusal(parse_built(&file))
}

#[test]
fn reads_what_is_there() {
    let gguf = parse_built(&file()).unwrap();
    assert_eq!((gguf.version, gguf.alignment), (3, 32));
    assert_eq!(gguf.metadata, [("one".to_owned(), Value::U32(1))]);
    // 24 bytes of preamble, 8 + 3 + 4 + 4 of the value, 8 + 1 + 4 + 16 + 4 + 8 and 8 + 1 + 4 + 8 + 4 + 8 of the tensors
    assert_eq!(gguf.data_offset, 128);
    assert_eq!(gguf.file_size, 128 + 64 + 68);
    let [a, b] = &gguf.tensors[..] else { panic!("two tensors") };
    assert_eq!((a.shape(), a.dims, a.offset, a.n_bytes), (&[8, 2][..], [8, 2, 1, 1], 0, 64));
    assert_eq!((b.tensor_type, b.shape(), b.offset, b.n_bytes), (TensorType::Q8_0, &[64][..], 64, 68));
}

#[test]
fn reads_every_type_of_value() {
    let values = [
        Value::U8(200),
        Value::I8(-100),
        Value::U16(60_000),
        Value::I16(-30_000),
        Value::U32(4_000_000_000),
        Value::I32(-2_000_000_000),
        Value::F32(0.5),
        Value::Bool(true),
        Value::String(b"\xff\0text".to_vec()),
        Value::U64(u64::MAX),
        Value::I64(i64::MIN),
        Value::F64(-0.25),
        Value::Array(Array::U8(vec![1, 2, 255])),
        Value::Array(Array::I8(vec![-1, 127])),
        Value::Array(Array::U16(vec![1, 65_535])),
        Value::Array(Array::I16(vec![-1, 32_767])),
        Value::Array(Array::U32(vec![1, u32::MAX])),
        Value::Array(Array::I32(vec![-1, i32::MAX])),
        Value::Array(Array::F32(vec![1.5, f32::INFINITY])),
        Value::Array(Array::Bool(vec![true, false])),
        Value::Array(Array::String([&b""[..], b"two"].into_iter().collect())),
        Value::Array(Array::U64(vec![1, u64::MAX])),
        Value::Array(Array::I64(vec![-1, i64::MAX])),
        Value::Array(Array::F64(vec![])),
    ];
    let mut file = Builder::new();
    for (index, value) in values.iter().enumerate() {
        file.set(&format!("key {index}"), value.clone());
    }
    let read: Vec<Value> = parse_built(&file).unwrap().metadata.into_iter().map(|(_, value)| value).collect();
    assert_eq!(read, values);
}

#[test]
fn refuses_other_kinds_of_files() {
    assert_eq!(refusal(parse(b"", 0)), "not a GGUF model: the file has 0 bytes");
    assert_eq!(refusal(parse(b"GG", 2)), "not a GGUF model: the file has 2 bytes");
    assert_eq!(changed(|file| file.magic = *b"tjgg"), "not a GGUF model: it starts with 'tjgg' instead of 'GGUF'");
    assert_eq!(
        changed(|file| file.magic = *b"\0\xff\nX"),
        "not a GGUF model: it starts with '\\0�\\nX' instead of 'GGUF'"
    );
}

#[test]
fn refuses_versions_that_llama_cpp_does_not_read() {
    assert_eq!(
        changed(|file| file.version = 1),
        "not supported: GGUF version 1 (convert the model again: versions 2 and 3 are read)"
    );
    assert_eq!(changed(|file| file.version = 4), "not supported: GGUF version 4 (versions 2 and 3 are read)");
    assert_eq!(
        changed(|file| file.version = 3_u32.swap_bytes()),
        "not supported: GGUF version 3 in the byte order of another machine"
    );
    assert_eq!(changed(|file| file.version = 0), "malformed: version 0 (versions 2 and 3 are read) (at byte 4)");
    let mut two = file();
    two.version = 2;
    assert_eq!(parse_built(&two).unwrap().version, 2);
}

#[test]
fn refuses_counts_that_the_file_cannot_hold() {
    assert_eq!(
        changed(|file| file.n_tensors = Some(u64::MAX)),
        "malformed: 18446744073709551615 tensors are more than the limit of 16384 (at byte 24)"
    );
    assert_eq!(
        changed(|file| file.n_pairs = Some(1 << 31)),
        "malformed: 2147483648 metadata values are more than the limit of 2147483647 (at byte 24)"
    );
    assert_eq!(
        changed(|file| file.n_pairs = Some(1 << 30)),
        "malformed: 1073741824 metadata values take at least 14 bytes each, but only 236 bytes follow (at byte 24)"
    );
    assert_eq!(
        changed(|file| file.n_tensors = Some(16_000)),
        "malformed: 16000 tensors take at least 33 bytes each, but only 217 bytes follow (at byte 43)"
    );
}

#[test]
fn refuses_bad_keys() {
    assert_eq!(
        changed(|file| file.pairs[0].key = b"".to_vec()),
        "malformed: a key of 0 bytes (1 to 65535 are allowed) (at byte 24)"
    );
    assert_eq!(
        changed(|file| file.pairs[0].key = vec![b'k'; 65_536]),
        "malformed: a key of 65536 bytes (1 to 65535 are allowed) (at byte 24)"
    );
    assert_eq!(
        changed(|file| file.pairs[0].key = b"on\0e".to_vec()),
        "malformed: a key with a NUL byte: 'on\\0e' (at byte 24)"
    );
    assert_eq!(
        changed(|file| file.pairs[0].key = b"on\xe9".to_vec()),
        "malformed: a key that is not UTF-8: 'on�' (at byte 24)"
    );
    assert_eq!(
        changed(|file| file.pairs.push(file.pairs[0].clone())),
        "malformed: the key 'one' occurs twice (at byte 43)"
    );
    let mut longest = file();
    longest.pairs[0].key = vec![b'k'; 65_535];
    assert_eq!(parse_built(&longest).unwrap().metadata[0].0.len(), 65_535);
}

#[test]
fn refuses_bad_values() {
    assert_eq!(
        changed(|file| file.pairs[0].value_type = 13),
        "malformed: 'one' has the unknown value type 13 (0 to 12 are known) (at byte 35)"
    );
    assert_eq!(
        changed(|file| file.pairs[0].value_type = u32::MAX),
        "malformed: 'one' has the unknown value type 4294967295 (0 to 12 are known) (at byte 35)"
    );
    assert_eq!(
        changed(|file| _ = file.set_raw("one", 7, &[2])),
        "malformed: 'one' has the bool 2 (0 and 1 are allowed) (at byte 39)"
    );
    assert_eq!(
        changed(|file| _ = file.set_raw("one", 8, &(u64::MAX - 7).to_ne_bytes())),
        "malformed: 'one' has a string of 18446744073709551608 bytes, but only 213 follow (at byte 39)"
    );
}

fn array(element_type: u32, count: u64, rest: &[u8]) -> Vec<u8> {
    let mut payload = element_type.to_ne_bytes().to_vec();
    payload.extend(count.to_ne_bytes());
    payload.extend(rest);
    payload
}

#[test]
fn refuses_bad_arrays() {
    let changed = |payload: &[u8]| changed(|file| _ = file.set_raw("one", 9, payload));
    assert_eq!(
        changed(&array(13, 0, &[])),
        "malformed: 'one' is an array of the unknown type 13 (0 to 12 are known) (at byte 39)"
    );
    assert_eq!(changed(&array(9, 1, &array(4, 1, &[1, 0, 0, 0]))), "not supported: 'one' is an array of arrays");
    assert_eq!(
        changed(&array(0, u64::MAX, &[])),
        "malformed: 'one' has 18446744073709551615 elements (at most 2147483647 are allowed) (at byte 39)"
    );
    assert_eq!(
        changed(&array(10, 100, &[])),
        "malformed: 'one' has 100 elements of at least 8 bytes, but only 209 bytes follow (at byte 39)"
    );
    assert_eq!(
        changed(&array(8, 30, &[])),
        "malformed: 'one' has 30 elements of at least 8 bytes, but only 209 bytes follow (at byte 39)"
    );
    assert_eq!(
        changed(&array(7, 2, &[1, 255])),
        "malformed: 'one' has the bool 255 (0 and 1 are allowed) (at byte 52)"
    );
}

#[test]
fn takes_no_memory_for_promises() {
    // A file that claims to be huge, as a sparse one may be, but has nothing in it.
    let mut file = Builder::new();
    file.set_raw("one", 9, &array(0, 50_000_000, &[]));
    let (header, _) = file.header();
    assert_eq!(refusal(parse(&header, 1 << 50)), "malformed: the file became shorter while it was read (at byte 51)");
    file.set_raw("one", 9, &array(0, 60_000_000, &[]));
    let (header, _) = file.header();
    assert_eq!(refusal(parse(&header, 1 << 50)), "not supported: 'one' is an array of 60000000 elements of type u8");
    file.set_raw("one", 8, &(1_u64 << 40).to_ne_bytes());
    let (header, _) = file.header();
    assert_eq!(
        refusal(parse(&header, 1 << 50)),
        "malformed: 'one' has a string of 1099511627776 bytes, but only 268435456 follow (at byte 39)"
    );
}

#[test]
fn refuses_bad_alignments() {
    let with = |alignment: Value| changed(|file| _ = file.set("general.alignment", alignment));
    for bad in [0, 1, 4, 24, 33, 1 << 21, 1 << 31, u32::MAX] {
        assert_eq!(
            with(Value::U32(bad)),
            format!("malformed: general.alignment is {bad} (a power of two from 8 to 1048576 is allowed)")
        );
    }
    assert_eq!(with(Value::U64(32)), "malformed: general.alignment has the type u64 instead of u32");
    let mut wide = file();
    wide.u32("general.alignment", 4096);
    wide.alignment = 4096;
    let gguf = parse_built(&wide).unwrap();
    assert_eq!((gguf.data_offset, gguf.tensors[1].offset), (4096, 4096));
}

#[test]
fn refuses_bad_tensors() {
    let changed = |change: fn(&mut super::super::write::Tensor)| changed(|file| change(file.tensor_mut("a")));
    assert_eq!(
        changed(|a| a.name = vec![b'n'; 64]),
        "malformed: a tensor's name of 64 bytes (1 to 63 are allowed) (at byte 43)"
    );
    assert_eq!(changed(|a| a.name = b"\0".to_vec()), "malformed: a tensor's name with a NUL byte: '\\0' (at byte 43)");
    assert_eq!(changed(|a| a.name = b"b".to_vec()), "malformed: the tensor 'b' occurs twice (at byte 84)");
    assert_eq!(changed(|a| a.n_dims = Some(0)), "malformed: 'a' has 0 dimensions (1 to 4 are allowed) (at byte 52)");
    assert_eq!(changed(|a| a.n_dims = Some(5)), "malformed: 'a' has 5 dimensions (1 to 4 are allowed) (at byte 52)");
    let dims = "each has to be at least 1, their product less than 2^63";
    assert_eq!(
        changed(|a| a.dims = vec![8, 0]),
        format!("malformed: 'a' has the dimensions [8, 0] ({dims}) (at byte 56)")
    );
    assert_eq!(
        changed(|a| a.dims = vec![1 << 32, 1 << 32]),
        format!("malformed: 'a' has the dimensions [4294967296, 4294967296] ({dims}) (at byte 56)")
    );
    assert_eq!(
        changed(|a| a.dims = vec![1 << 62, 2]),
        format!("malformed: 'a' has the dimensions [4611686018427387904, 2] ({dims}) (at byte 56)")
    );
    for number in [4, 5, 21, u32::MAX] {
        let mut file = file();
        file.tensor_mut("a").number = number;
        assert_eq!(
            refusal(parse_built(&file)),
            format!("malformed: 'a' has the type {number}, which the bundled llama.cpp does not know (at byte 72)")
        );
    }
    // 8 times 4 elements are a block, but no row is.
    assert_eq!(
        changed(|a| (a.number, a.dims) = (2, vec![8, 4])),
        "malformed: 'a' has rows of 8 elements, which are no whole number of q4_0 blocks of 32 (at byte 72)"
    );
    assert_eq!(
        changed(|a| (a.number, a.dims) = (0, vec![1 << 62])),
        "malformed: 'a' has 4611686018427387904 elements of type f32, more than there can be bytes (at byte 64)"
    );
    assert_eq!(
        changed(|a| a.offset = Some(16)),
        "malformed: 'a' starts at the offset 16, which is no multiple of the alignment, 32 (at byte 76)"
    );
}

#[test]
fn refuses_data_that_is_not_there_or_shared() {
    assert_eq!(
        changed(|file| file.tensor_mut("b").offset = Some(96)),
        "malformed: the data of 'b' (68 bytes at the offset 96) ends outside of the file, which has 260 bytes, 132 of \
         them data: was the file cut off?"
    );
    assert_eq!(
        changed(|file| file.tensor_mut("b").offset = Some(u64::MAX - 31)),
        "malformed: the data of 'b' (68 bytes at the offset 18446744073709551584) ends outside of the file, which has \
         260 bytes, 132 of them data: was the file cut off?"
    );
    assert_eq!(
        changed(|file| file.tensor_mut("b").offset = Some(32)),
        "malformed: the tensors 'a' and 'b' share data (at byte 160)"
    );
    assert_eq!(
        changed(|file| file.tensor_mut("b").offset = Some(0)),
        "malformed: the tensors 'a' and 'b' share data (at byte 128)"
    );
}

#[test]
fn refuses_every_truncation() {
    let whole = model("llama").file();
    assert!(parse(&whole, whole.len() as u64).is_ok());
    let (header, _) = model("llama").header();
    // All of the header, and enough of the data, of which nothing is read.
    let lengths =
        (0..header.len() + 64).chain((header.len()..whole.len()).step_by(997)).chain(whole.len() - 64..whole.len());
    for length in lengths {
        assert!(parse(&whole[..length], length as u64).is_err(), "{length} bytes of {}", whole.len());
    }
    // The last tensor's padding is data that can be missing, too.
    let mut padded = file();
    padded.tail = 28;
    let whole = padded.file();
    assert_eq!(whole.len(), 288);
    assert!(parse(&whole, 288).is_ok());
    assert_eq!(
        refusal(parse(&whole[..287], 287)),
        "malformed: the file has 287 bytes, but its data ends at byte 288: it was cut off"
    );
}

#[test]
fn says_why_a_file_cannot_be_read() {
    let FileError::Io { source, .. } = Gguf::open("no/such/file").unwrap_err() else {
        panic!("an error of the operating system")
    };
    assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
    let directory = std::env::temp_dir();
    assert_eq!(
        Gguf::open(&directory).unwrap_err().to_string(),
        format!("cannot read '{}': is a directory", directory.display())
    );
    #[cfg(unix)]
    assert_eq!(Gguf::open("/dev/zero").unwrap_err().to_string(), "cannot read '/dev/zero': is not a regular file");
}
