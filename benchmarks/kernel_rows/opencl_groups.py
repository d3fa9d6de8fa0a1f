"""Sums and maxima over a work-group in OpenCL C: by sub-groups if the runtime supports them.

`parts` has an element for every work-item.
"""


def reduction(name: str, combine: str, neutral: str) -> str:
    return f"""
float group_{name}(float value, local float* parts) {{
#ifdef cl_khr_subgroups
    value = sub_group_reduce_{"add" if name == "sum" else name}(value);
    if (get_sub_group_local_id() == 0) parts[get_sub_group_id()] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    value = {neutral};
    for (uint i = 0; i < get_num_sub_groups(); ++i) value = {combine.format("value", "parts[i]")};
    barrier(CLK_LOCAL_MEM_FENCE);
    return value;
#else
    uint item = get_local_id(0);
    parts[item] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = get_local_size(0) / 2; half_size; half_size /= 2) {{
        if (item < half_size) parts[item] = {combine.format("parts[item]", "parts[item + half_size]")};
        barrier(CLK_LOCAL_MEM_FENCE);
    }}
    value = parts[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return value;
#endif
}}
"""


GROUP_REDUCTIONS = (
    """
#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
"""
    + reduction("sum", "{} + {}", "0")
    + reduction("max", "max({}, {})", "-INFINITY")
)
